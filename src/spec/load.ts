/** From the text of config.json to a Spec whose structure is checked. What the fields mean is src/check's business. */
import validate from "../../build/gen/validate.js";
import { RuntError } from "../errors/index.ts";
import { explain } from "./explain.ts";
import { parseJson } from "./json.ts";
import type { Spec } from "./types.ts";

/**
 * Parse and validate config.json.
 * @param exact the text holds an integer of 16 or more digits, which JSON.parse would round
 * @throws RuntError "config-syntax" (line, column) or "config-schema" (pointer, line, column)
 */
export function parseSpec(text: string, exact: boolean): Spec {
  const value = exact ? parseJson(text) : parseFast(text);
  if (value === null) throw new RuntError("config-schema", "config cannot be null", { pointer: "" });
  if (!validate(value)) {
    const error = validate.errors?.[0];
    throw error === undefined ? new RuntError("internal", "the validator gave no reason") : explain(text, error);
  }
  return value as Spec;
}

function parseFast(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The own parser words the error and knows where it is; it also accepts what JSON.parse does not (a byte order mark).
    return parseJson(text);
  }
}
