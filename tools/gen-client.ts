/**
 * The routes of runtd as the client has them: the schemas that the daemon validates requests with (src/runtd/routes) become types of TypeScript, and a table of
 * methods, paths and names of parameters.
 *
 * Writes src/client/models.ts and src/client/operations.ts. Usage: tsx tools/gen-client.ts (in the repository)
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Route } from "../src/runtd/http/route.ts";
import { ROUTES } from "../src/runtd/routes/index.ts";
import { engineEvent, gapEvent } from "../src/runtd/schemas/event.ts";
import { poolRunEnd, poolRunStart } from "../src/runtd/schemas/pool.ts";
import { streamStart } from "../src/runtd/schemas/stream.ts";

const MODELS = "src/client/models.ts";
const OPERATIONS = "src/client/operations.ts";
const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));

/** The parts of JSON Schema that zod writes. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema | false;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  /** Names that a map may have. */
  readonly propertyNames?: Schema;
}

/** Keywords that decide about the type. */
const TYPING: readonly string[] = [
  ...["$ref", "$defs", "type", "enum", "const", "anyOf", "oneOf", "allOf", "items", "prefixItems"],
  ...["properties", "required", "additionalProperties", "propertyNames"],
];
/** Keywords that say more than a type can: which values of the type are valid, and what people read. */
const OTHER: readonly string[] = [
  ...["minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["contentEncoding", "contentMediaType"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
  ...["$schema", "id", "title", "description", "default", "examples"],
];
const KEYWORDS: ReadonlySet<string> = new Set([...TYPING, ...OTHER]);

const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** A type of TypeScript for what matches a schema. @throws Error: the schema has a keyword that is not known here */
export function typeOf(schema: Schema): string {
  const strange = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (strange !== undefined) throw new Error(`the keyword ${strange} of a schema is not known`);
  const { $ref, anyOf, oneOf = anyOf, allOf, type } = schema;
  if ($ref !== undefined) return $ref.replace("#/$defs/", "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (oneOf !== undefined) return [...new Set(oneOf.map(typeOf))].join(" | ");
  if (allOf !== undefined) return allOf.map(typeOf).join(" & ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(" | ");
  if (type === "array") return listOf(schema);
  if (type === "object") return objectOf(schema);
  if (type === undefined) return "unknown";
  const plain = PLAIN[type as string];
  if (plain === undefined) throw new Error(`a schema of type ${type} is not known`);
  return plain;
}

function listOf({ prefixItems, items }: Schema): string {
  const one = items === undefined || items === false ? undefined : typeOf(items);
  if (prefixItems === undefined) return `readonly (${one ?? "unknown"})[]`;
  return `readonly [${[...prefixItems.map(typeOf), ...(one === undefined ? [] : [`...(${one})[]`])].join(", ")}]`;
}

function objectOf({ properties = {}, required = [], additionalProperties: rest, propertyNames }: Schema): string {
  const names = Object.keys(properties);
  const map =
    typeof rest === "object" ? `Readonly<Record<string, ${typeOf(rest)}>>` : rest === true ? "Readonly<Record<string, unknown>>" : "";
  if (propertyNames !== undefined && typeOf(propertyNames) !== "string") throw new Error("a map with a list of names is not known");
  if (map !== "" && names.length > 0) throw new Error(`an object with fields of its own and others is not known: ${names.join(", ")}`);
  if (names.length === 0) return map || "Readonly<Record<string, never>>";
  const fields = names.map((name) => {
    const field = properties[name]!;
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const type = typeOf(field);
    return `${commentOf(explained(field))}readonly ${key}${required.includes(name) ? `: ${type}` : `?: ${type} | undefined`};`;
  });
  return `{\n${fields.join("\n")}\n}`;
}

/** What its comment says: its description, and a default that the daemon has. */
function explained({ description, default: value }: Schema): string | undefined {
  if (value === undefined) return description;
  const text = `Default: ${JSON.stringify(value)}.`;
  return description === undefined ? text : `${description} ${text}`;
}

const WIDTH = 120;

function commentOf(text: string | undefined): string {
  if (text === undefined) return "";
  const lines: string[] = [];
  for (const word of text.replaceAll("*/", "* /").split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */\n`;
}

/** Types with a name of their own. */
class Named {
  readonly #types = new Map<string, string>();

  schema(schema: z.ZodType, io: "input" | "output"): Schema {
    const { $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Schema;
    for (const [name, one] of Object.entries($defs)) this.#add(name, one);
    return rest;
  }

  /** Adds a schema with a name. */
  add(schema: z.ZodType, io: "input" | "output"): void {
    const whole = this.schema(schema, io);
    const { id } = schema.meta() ?? {};
    if (whole.$ref === undefined) this.#add(id!, whole);
  }

  #add(name: string, schema: Schema): void {
    const type = typeOf(schema);
    const text = `${commentOf(schema.description)}export ${schema.properties !== undefined ? `interface ${name} ${type}` : `type ${name} = ${type};`}`;
    const known = this.#types.get(name);
    if (known !== undefined && known !== text) throw new Error(`${name} is another type as input than as output`);
    this.#types.set(name, text);
  }

  /** By name. */
  get all(): readonly (readonly [name: string, text: string])[] {
    return [...this.#types].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Values of a query are text, and booleans in a program. */
function queryField(field: Schema): Schema {
  const isFlag = field.enum?.length === 2 && field.enum.includes("true") && field.enum.includes("false");
  const { enum: _, ...rest } = field;
  return isFlag ? { ...rest, type: "boolean", default: field.default === "true" } : field;
}

interface Parts {
  readonly request: Schema;
  readonly query: readonly string[];
  readonly body: readonly string[] | null;
}

/** All parameters of a route in one object. @throws Error: two parts of the request have a parameter of this name; a part is more than its fields */
function partsOf({ operation, params, query, body }: Route, named: Named): Parts {
  const read = (schema: z.ZodType | undefined): Schema => {
    if (schema === undefined) return {};
    const part = named.schema(schema, "input");
    typeOf(part);
    if (part.type !== "object" || part.additionalProperties) throw new Error(`${operation}: a part of the request is more than its fields`);
    return part;
  };
  const given = [read(params), read(query), read(body)] as const;
  const [, { properties: inQuery = {} }] = given;
  const asked = { ...given[1], properties: Object.fromEntries(Object.entries(inQuery).map(([name, one]) => [name, queryField(one)])) };
  const parts = [given[0], asked, given[2]];
  const names = parts.flatMap(({ properties = {} }) => Object.keys(properties));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${operation} has two parameters ${twice}`);
  return {
    request: {
      type: "object",
      properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
      required: parts.flatMap(({ required = [] }) => required),
    },
    query: Object.keys(inQuery),
    body: body === undefined ? null : Object.keys(given[2].properties ?? {}),
  };
}

function kindOf({ answer }: Route): "json" | "events" | "bytes" | "text" | "upgrade" {
  if (answer.status === 101) return "upgrade";
  if ("schema" in answer) return "json";
  if (answer.type === "text/event-stream") return "events";
  return answer.type === "application/octet-stream" ? "bytes" : "text";
}

const GENERATED = "Generated by tools/gen-client.ts from the schemas of the daemon.";
/** Fields of the first frame that a client sends, by operation. */
const STARTS = { execInTask: streamStart, runInPool: poolRunStart };

/** The texts of both files, unformatted. */
function textsOf(routes: readonly Route[]): Readonly<Record<string, string>> {
  const named = new Named();
  for (const schema of [streamStart, poolRunStart]) named.add(schema, "input");
  for (const schema of [engineEvent, gapEvent, poolRunEnd]) named.add(schema, "output");
  const requests: string[] = [];
  const answers: string[] = [];
  const events: string[] = [];
  const table: string[] = [];
  for (const route of routes) {
    const { operation, method, path, summary, access } = route;
    const { request, query, body } = partsOf(route, named);
    requests.push(`${commentOf(`${summary}.`)}readonly ${operation}: ${objectOf(request)};`);
    if ("schema" in route.answer) answers.push(`readonly ${operation}: ${typeOf(named.schema(route.answer.schema, "output"))};`);
    if ("events" in route && route.events !== undefined) {
      const each = Object.entries(route.events).map(
        ([name, schema]) => `{ readonly event: "${name}"; readonly data: ${typeOf(named.schema(schema, "output"))} }`,
      );
      events.push(`readonly ${operation}: ${each.join(" | ")};`);
    }
    const row = { method: method.toUpperCase(), path, access, kind: kindOf(route), query, body };
    table.push(`${operation}: ${JSON.stringify(row)},`);
  }
  const operations = `
/** What each operation is asked for: the parameters of its path and its query, and the fields of its body. */
export interface Requests {\n${requests.join("\n")}\n}

/** What each operation answers that answers with one JSON value. */
export interface Answers {\n${answers.join("\n")}\n}

/** The events of operations that answer with a stream of events and an end. */
export interface Progress {\n${events.join("\n")}\n}

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** admin: only admin.sock has it. */
  readonly access: "read" | "admin";
  readonly kind: "json" | "events" | "bytes" | "text" | "upgrade";
  /** Names of the parameters of the query. */
  readonly query: readonly string[];
  /** Names of the fields of the body; null: there is no body. */
  readonly body: readonly string[] | null;
}

export const OPERATIONS = {\n${table.join("\n")}\n} as const satisfies Readonly<Record<keyof Requests, Operation>>;

/** Names of the fields of the first frame that a client sends on an upgraded connection. */
export const START_FIELDS = ${JSON.stringify(Object.fromEntries(Object.entries(STARTS).map(([name, { shape }]) => [name, Object.keys(shape)])))} as const;
`;
  const used = named.all.map(([name]) => name).filter((name) => new RegExp(`\\b${name}\\b`).test(operations));
  return {
    [MODELS]: `/** The values that runtd answers with. ${GENERATED} */\n\n${named.all.map(([, text]) => text).join("\n\n")}\n`,
    [OPERATIONS]: `/** The routes of runtd. ${GENERATED} */\nimport type { ${used.join(", ")} } from "./models.ts";\n${operations}`,
  };
}

/** Path and content of the files. */
export function clientFiles(): readonly (readonly [path: string, text: string])[] {
  const biome = join(REPOSITORY, "node_modules/.bin/biome");
  return Object.entries(textsOf(ROUTES)).map(([path, input]) => [
    path,
    execFileSync(biome, ["check", "--write", `--stdin-file-path=${path}`], { cwd: REPOSITORY, input, encoding: "utf8" }),
  ]);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  for (const [path, text] of clientFiles()) writeFileSync(join(REPOSITORY, path), text);
