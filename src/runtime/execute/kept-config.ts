/** Writes the limits of `update` into the configuration that create has kept. */
import { isObject } from "../../shared/text/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { parseConfig, printJson, type SpecResources } from "../spec/index.ts";
import { configPath, writeNew } from "../state/index.ts";

type Json = { [key: string]: unknown };

/**
 * Temp file and rename: this does the first and returns the second, which cannot fail for want of space. Nothing to do for a container whose
 * configuration was not kept.
 */
export function stageKeptConfig(root: string, id: string, resources: SpecResources): () => void {
  const path = configPath(root, id);
  let text: string;
  try {
    text = host.readOwn(path);
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return () => {};
    throw error;
  }
  const config = parseKept(text, path);
  const merged = merge(config, { linux: { resources } });
  writeNew(`${path}.new`, printJson(merged));
  return () => host.rename(`${path}.new`, path);
}

/** @throws RuntError state-unreadable, with the words of the parser: what is wrong and where */
function parseKept(text: string, path: string): Json {
  let config: unknown;
  try {
    config = parseConfig(text, host.needsExactParser(text), path);
  } catch (cause) {
    if (!(cause instanceof RuntError)) throw cause;
    throw new RuntError("state-unreadable", cause.message, { cause });
  }
  if (!isObject(config)) throw new RuntError("state-unreadable", `${path}: not a configuration`);
  return config;
}

/** Merges sections field by field and replaces lists. Fields that are not given stay. */
export function merge(before: Json, change: Json): Json {
  const result = { ...before };
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined || value === null) continue;
    const old = result[key];
    result[key] = isObject(value) ? merge(isObject(old) ? old : {}, value) : small(value);
  }
  return result;
}

/** A number where that is exact: a document without bigints is printed much faster. */
function small(value: unknown): unknown {
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
