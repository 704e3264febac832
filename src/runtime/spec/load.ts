/** From the text of config.json to a Spec whose structure is checked. What the fields mean is src/runtime/check's business. */

import type { SchemaError } from "../../../build/gen/validate.js";
import validate from "../../../build/gen/validate.js";
import { RuntError } from "../errors/index.ts";
import { explain, lookup } from "./explain.ts";
import { type JsonValue, parseJson } from "./json.ts";
import type { Spec } from "./types.ts";

/**
 * config.json as JSON.
 * @param exact the text is none for JSON.parse: it holds an integer of 16 or more digits, or is nested too deep (host.needsExactParser)
 * @param file its name in messages; undefined: config.json
 * @throws RuntError "config-syntax" (line, column)
 */
export function parseConfig(text: string, exact: boolean, file?: string): unknown {
  return exact ? parseJson(text, file === undefined ? {} : { file }) : parseFast(text, file);
}

/**
 * Validate the structure of config.json.
 * @param json what parseConfig has made of the text
 * @throws RuntError "config-schema" (pointer, line, column)
 */
export function validateSpec(text: string, json: unknown): Spec {
  const { value, changed } = flatCapabilities(json);
  if (value === null) throw new RuntError("config-schema", "config cannot be null", { pointer: "" });
  const error = violation(value);
  if (error !== undefined) {
    // The list stands where the text has it.
    throw explain(
      text,
      changed ? { ...error, instancePath: error.instancePath.replace("/capabilities/bounding", "/capabilities") } : error,
    );
  }
  return value as Spec;
}

/** Parse and validate config.json. @throws RuntError "config-syntax" or "config-schema" */
export function parseSpec(text: string, exact: boolean): Spec {
  return validateSpec(text, parseConfig(text, exact));
}

/**
 * Parse and validate a document that stands for one field of config.json: the process of `exec`, the resources of `update`; or for the
 * `mounts` of a container that runs: an object with that field, like config.json itself.
 * @param file its name in messages
 * @throws RuntError like parseSpec
 */
export function parsePart(text: string, exact: boolean, part: "process" | "resources" | "mounts", file: string): Spec {
  const value = parseConfig(text, exact, file);
  if (value === null) throw new RuntError("config-schema", `${file}: ${part} cannot be null`, { pointer: "" });
  const [spec, place] = PARTS[part](value);
  const error = violation(spec);
  if (error !== undefined) throw explain(text, { ...error, instancePath: error.instancePath.slice(place.length) }, file);
  return spec as Spec;
}

/** The first. */
function violation(spec: unknown): SchemaError | undefined {
  if (validate(spec)) return undefined;
  const error = validate.errors?.[0];
  if (error === undefined) throw new RuntError("internal", "the validator gave no reason");
  const completed = error.params.missingProperty === "pageSize" && completePageSize(lookup(spec as JsonValue, error.instancePath));
  return completed ? violation(spec) : error;
}

/** A spec with nothing else, and the JSON pointer in it of what the document is. */
const PARTS = {
  process: (value: unknown) => [{ ociVersion: "", process: value }, "/process"],
  resources: (value: unknown) => [{ ociVersion: "", linux: { resources: value } }, "/linux/resources"],
  mounts: (value: unknown) => [{ ociVersion: "", mounts: (value as { readonly mounts?: unknown }).mounts }, ""],
} as const satisfies Record<string, (value: unknown) => readonly [object, string]>;

function parseFast(text: string, file?: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The own parser words the error and knows where it is; it also accepts what JSON.parse does not (a byte order mark).
    return parseJson(text, file === undefined ? {} : { file });
  }
}

/** Forms that the specification does not have, or no longer, and that are taken. */

/**
 * process.capabilities was a plain list until 1.0.0-rc4: it fills all five sets. `value` is left as it is; what comes back is either it,
 * or a copy down to that field.
 */
export function flatCapabilities<T>(value: T): { readonly value: T; readonly changed: boolean } {
  const process = (value as { process?: { capabilities?: unknown } | null } | null)?.process;
  const list = process?.capabilities;
  if (!Array.isArray(list)) return { value, changed: false };
  const capabilities = { bounding: list, effective: list, permitted: list, inheritable: list, ambient: list };
  return { value: { ...value, process: { ...process, capabilities } }, changed: true };
}

/**
 * `pagesize` for `pageSize`, in an entry of hugepageLimits: decoders written in Go tell no letters apart, so that configurations have it.
 * It is the one required field that is taken so; the check of page sizes says it. True: the entry has got what it lacked.
 */
export function completePageSize(entry: unknown): boolean {
  const limit = entry as { pagesize?: unknown; pageSize?: unknown };
  if (typeof limit.pagesize !== "string") return false;
  limit.pageSize = limit.pagesize;
  return true;
}
