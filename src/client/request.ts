/** Makes a request of the options of a call. */
import { OPERATIONS, type Operation, type Requests } from "./operations.ts";
import { ClientError } from "./protocol/index.ts";
import type { Question } from "./transport.ts";

export type Fields = Readonly<Record<string, unknown>>;
export type OperationName = keyof Requests;

export function invalid(message: string): ClientError {
  return new ClientError("invalid-argument", message);
}

/** Options that callers without types hand over. @throws ClientError invalid-argument: it is no object, or an option does not exist */
export function checkOptions(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw invalid(`${what}: use an object of options`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(`${what}: unknown option ${unknown}; ${known.length === 0 ? "it has none" : `known are ${known.join(", ")}`}`);
}

const PARAMETER = /\{(\w+)\}/g;

/** Names of the options of an operation: those of its path, its query and its body. */
export function namesOf(operation: OperationName): readonly string[] {
  const { path, query, body }: Operation = OPERATIONS[operation];
  return [...[...path.matchAll(PARAMETER)].map(([, name]) => name!), ...query, ...(body ?? [])];
}

/** @param fields options of the operation; others are ignored. @throws ClientError invalid-argument: a name of the path is missing, or a value is no parameter */
export function questionOf(operation: OperationName, fields: Fields): Question {
  const { method, path, query, body }: Operation = OPERATIONS[operation];
  const filled = path.replace(PARAMETER, (_, name: string) => {
    const value = fields[name];
    if (typeof value !== "string" || value === "") throw invalid(`${operation}: ${name} is missing`);
    // HTTP would read it as a step to another path, also when it is encoded.
    if (value === "." || value === "..") throw invalid(`${operation}: ${value} is no ${name}`);
    return encoded(`${operation}: ${name}`, value);
  });
  const pairs = query.flatMap((name) => {
    const value = fields[name];
    if (value === undefined) return [];
    if (!["string", "number", "boolean"].includes(typeof value)) throw invalid(`${operation}: ${name} is no text, number or boolean`);
    return [`${name}=${encoded(`${operation}: ${name}`, String(value))}`];
  });
  const question = { method, path: pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}` };
  if (body === null) return question;
  return { ...question, body: jsonOf(operation, Object.fromEntries(body.map((name) => [name, fields[name]]))) };
}

function encoded(what: string, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw invalid(`${what} has half of a surrogate pair`);
  }
}

/** @throws ClientError invalid-argument: the value has a cycle or a bigint */
export function jsonOf(operation: OperationName, value: Fields): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw invalid(`${operation}: ${(error as Error).message}`);
  }
}
