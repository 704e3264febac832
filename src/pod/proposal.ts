/** Proposes a field of the schema for a misspelt one. */
import { z } from "zod";
import type { Problem } from "../engine/spec/index.ts";

const UNKNOWN = /^the field "(.*)" is not supported$/;

/** Adds to the message of an unknown field which field may be meant. */
export function withProposal(schema: z.ZodType, problem: Problem): Problem {
  const [, name] = UNKNOWN.exec(problem.message) ?? [];
  if (name === undefined) return problem;
  const near = nearest(name, fieldsAt(schema, problem.path.slice(0, -1)));
  return near === undefined ? problem : { ...problem, message: `${problem.message}: is ${near} meant?` };
}

/** Names of the fields that a schema has at a path. Empty: the schema has no such path. */
function fieldsAt(schema: z.core.$ZodType, path: readonly (string | number)[]): string[] {
  if (isWrapper(schema)) return fieldsAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => fieldsAt(one, path));
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out].flatMap((one) => fieldsAt(one, path));
  const [part, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    if (part === undefined) return Object.keys(schema.shape);
    const field = schema.shape[String(part)];
    return field === undefined ? [] : fieldsAt(field, rest);
  }
  if (schema instanceof z.ZodRecord && part !== undefined) return fieldsAt(schema.valueType, rest);
  return schema instanceof z.ZodArray && part !== undefined ? fieldsAt(schema.element, rest) : [];
}

function isWrapper(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault | z.ZodPrefault {
  return [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault].some((kind) => schema instanceof kind);
}

/** Maximum number of changed characters. */
const MOST_CHANGES = 2;
/** Maximum length in characters of a name that is compared: no field is longer. */
const LONGEST = 40;

export function nearest(name: string, fields: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, "");
  const ranked = fields
    .map((field) => ({ field, changes: changesOf(plain(name), plain(field)) }))
    .filter(({ field, changes }) => changes <= Math.min(MOST_CHANGES, Math.floor(field.length / 3)))
    .sort((a, b) => a.changes - b.changes);
  return ranked[0]?.field;
}

/** Characters to insert, remove or replace (Levenshtein). */
function changesOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [index, one] of [...a].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...b].entries()) next.push(Math.min(next[at]! + 1, row[at + 1]! + 1, row[at]! + (one === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}
