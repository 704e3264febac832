/** Converts zod's issues about the shape of a value to problems: one for each field, with messages for users. */
import type { z } from "zod";
import type { Problem } from "./finding.ts";

type Issue = z.core.$ZodIssue;

/** A field of the wrong type has that problem and no further one. */
export function shapeProblems(error: z.ZodError): Problem[] {
  const mistyped = new Set(error.issues.filter(({ code }) => code === "invalid_type").map(({ path }) => placeOf(path)));
  const shown = error.issues.filter(({ code, path }) => code === "invalid_type" || !mistyped.has(placeOf(path)));
  return shown.flatMap(problemsOf);
}

const placeOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

function problemsOf(issue: Issue): Problem[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ code: "shape", message: `the field ${JSON.stringify(key)} is not supported`, path: [...path, key] }));
  }
  if (issue.code === "invalid_key") return [{ code: "shape", message: issue.issues[0]?.message ?? issue.message, path }];
  if (issue.code === "invalid_union") {
    // The alternative of the right type has the most useful messages.
    const fitting = issue.errors.find(([first]) => first !== undefined && (first.code !== "invalid_type" || first.path.length > 0));
    if (fitting === undefined) return [{ code: "shape", message: "has the wrong type", path }];
    return fitting.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }));
  }
  return [{ code: "shape", message: textOf(issue), path }];
}

/** zod's own messages begin with these words, and are replaced. Messages that a schema defines are kept. */
const OF_ZOD = /^(?:Invalid |Too (?:small|big)|Unrecognized )/;

const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  null: "null",
  object: "an object",
  record: "an object",
  string: "a string",
};
const typeOf = (name: string): string => TYPES[name] ?? name;

function textOf(issue: Issue): string {
  if (!OF_ZOD.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type": {
      const received = /received (\w+)$/.exec(issue.message)?.[1] ?? "";
      return received === "undefined" ? "is missing" : `expected ${typeOf(issue.expected)}, not ${typeOf(received)}`;
    }
    case "invalid_value":
      return `expected ${alternatives(issue.values.map((value) => JSON.stringify(value)))}`;
    case "too_small":
      return bound(issue.origin, "least", issue.minimum, issue.inclusive ?? true);
    case "too_big":
      return bound(issue.origin, "most", issue.maximum, issue.inclusive ?? true);
    default:
      return issue.message;
  }
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

const COUNTED: Readonly<Record<string, string>> = {
  array: "entries",
  map: "entries",
  object: "fields",
  set: "entries",
  string: "characters",
};

function bound(origin: string, which: "least" | "most", limit: number | bigint, isInclusive: boolean): string {
  const counted = COUNTED[origin];
  if (counted !== undefined) return limit === 1 && which === "least" ? "is empty" : `has to have at ${which} ${limit} ${counted}`;
  if (isInclusive) return `has to be at ${which} ${limit}`;
  return `has to be ${which === "least" ? "more" : "less"} than ${limit}`;
}
