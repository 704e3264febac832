/** Turn a violation the validator found into an error that says where it is and what was expected, in plain words. */
import type { SchemaError } from "../../../build/gen/validate.js";
import { RuntError } from "../errors/index.ts";
import { type JsonValue, lineColumn, parseJson, pointerToken } from "./json.ts";

export const INTEGERS: Readonly<Record<string, string>> = {
  uint16: "an integer from 0 to 65535",
  uint32: "an integer from 0 to 4294967295",
  int32: "an integer from -2147483648 to 2147483647",
  int64: "a signed 64-bit integer",
  uint64: "an unsigned 64-bit integer",
};

const LONGEST = 40;

/** The value as it is named in a message: numbers by their value, everything else by its type. */
export function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value !== "number" && typeof value !== "bigint") return typeof value;
  const text = String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

/** The value at a JSON pointer; undefined when there is none. */
export function lookup(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const token of pointer.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  return value;
}

/** "config.json:12:5: /process/cwd: expected string, found number", with pointer, line and column in the details. */
export function explain(text: string, error: SchemaError, file = "config.json"): RuntError {
  const positions = new Map<string, number>();
  const root = parseJson(text, { positions });
  const { params } = error;
  let pointer = error.instancePath;
  const { line, column } = lineColumn(text, positions.get(pointer) ?? 0);
  let reason: string;
  if (params.missingProperty !== undefined) {
    pointer += `/${pointerToken(params.missingProperty)}`;
    reason = "required but missing";
  } else if (params.int !== undefined) {
    const value = lookup(root, pointer);
    const isNumber = typeof value === "number" || typeof value === "bigint";
    reason = `expected ${isNumber ? INTEGERS[params.int] : "integer"}, found ${describe(value)}`;
  } else {
    const value = lookup(root, pointer);
    const found = typeof value === "bigint" ? "number" : typeof value === "number" ? "number" : describe(value);
    reason = `expected ${String(params.type)}, found ${found}`;
  }
  return new RuntError("config-schema", `${file}:${line}:${column}: ${pointer === "" ? "" : `${pointer}: `}${reason}`, {
    pointer,
    line,
    column,
  });
}
