/**
 * What callers without types hand over: an argument of the wrong type, and an option that does not exist, are errors that name it before anything is
 * done. Values are checked where they are used.
 */
import { isObject } from "../shared/text/index.ts";
import { ExecutorError } from "./errors.ts";

interface Kind {
  readonly what: string;
  is(value: unknown): boolean;
}

const listOf = (what: string, is: (value: unknown) => boolean): Kind => ({
  what: `a list of ${what}`,
  is: (value) => Array.isArray(value) && value.every(is),
});

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";

export const KIND = {
  text: { what: "a string", is: isText },
  number: { what: "a number", is: isNumber },
  flag: { what: "true or false", is: (value) => typeof value === "boolean" },
  object: { what: "an object", is: isObject },
  call: { what: "a function", is: (value) => typeof value === "function" },
  texts: listOf("strings", isText),
  numbers: listOf("numbers", isNumber),
  objects: listOf("objects", isObject),
  textsByName: { what: "an object of strings", is: (value) => isObject(value) && Object.values(value).every(isText) },
  objectOrTexts: {
    what: "a list of strings, or an object",
    is: (value) => isObject(value) || (Array.isArray(value) && value.every(isText)),
  },
  objectOrFlag: { what: "true, false or an object", is: (value) => typeof value === "boolean" || isObject(value) },
} as const satisfies Readonly<Record<string, Kind>>;

/** The kind of each option. `what`: what the options are of, such as "launch". @throws ExecutorError invalid-argument */
export function checkShape(
  what: string,
  value: unknown,
  kinds: Readonly<Record<string, Kind>>,
  required: readonly string[] = [],
): asserts value is object {
  if (!isObject(value)) throw refused(what, what, `expected an object, not ${said(value)}`);
  const given = value as Readonly<Record<string, unknown>>;
  const missing = required.find((name) => given[name] === undefined);
  if (missing !== undefined) throw refused(what, missing, "is missing");
  for (const [name, one] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) throw refused(what, name, `there is no such option; use ${Object.keys(kinds).join(", ")}`);
    if (one !== undefined && !kind.is(one)) throw refused(what, name, `expected ${kind.what}, not ${said(one)}`);
  }
}

function refused(what: string, field: string, reason: string): ExecutorError {
  return new ExecutorError("invalid-argument", `${what === field ? "" : `${what}: `}${field}: ${reason}`, { field });
}

function said(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "a list" : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}
