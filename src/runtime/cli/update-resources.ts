/** The flags of update, or its document -> linux.resources, and the schemas of linux.intelRdt. */
import { checkPart } from "../check/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { parsePart, type SpecResources } from "../spec/index.ts";
import { text } from "./context.ts";
import type { FlagValues } from "./parse.ts";

const STDIN = 0;

/** Checked. @throws RuntError usage, config-read, config-syntax, config-schema or config-invalid */
export function updateResources(flags: FlagValues): SpecResources {
  const file = text(flags["resources"]);
  return file === undefined || file === "" ? resourcesOfFlags(flags) : readResources(file);
}

/** Lines for the container's resctrl group, which stand beside a document of resources too. @throws RuntError config-invalid */
export function updateSchemata(flags: FlagValues): readonly string[] {
  const [l3CacheSchema, memBwSchema] = [text(flags["l3-cache-schema"]), text(flags["mem-bw-schema"])];
  checkPart({ ociVersion: "", linux: { intelRdt: { l3CacheSchema, memBwSchema } } }, "schemas");
  return [l3CacheSchema, memBwSchema].filter((line) => line !== undefined && line !== "") as string[];
}

function readResources(file: string): SpecResources {
  const name = file === "-" ? "stdin" : file;
  let document: string;
  try {
    document = file === "-" ? host.readFd(STDIN) : host.readFile(file, undefined, true);
  } catch (error) {
    throw new RuntError("config-read", `open ${name}: ${host.reason(error)}`, { cause: error });
  }
  const spec = parsePart(document, host.needsExactParser(document), "resources", name);
  checkPart(spec, "resources");
  return spec.linux?.resources ?? {};
}

function resourcesOfFlags(flags: FlagValues): SpecResources {
  const size = (name: string) => given(flags, name, parseSize);
  const signed = (name: string) => given(flags, name, (value) => (/^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined));
  const unsigned = (name: string) => given(flags, name, (value) => (/^\d{1,19}$/.test(value) ? BigInt(value) : undefined));
  const weight = unsigned("blkio-weight");
  const limit = signed("pids-limit");
  const resources: SpecResources = {
    memory: { limit: size("memory"), reservation: size("memory-reservation"), swap: size("memory-swap") },
    cpu: {
      shares: unsigned("cpu-share"),
      quota: signed("cpu-quota"),
      burst: unsigned("cpu-burst"),
      period: unsigned("cpu-period"),
      realtimePeriod: unsigned("cpu-rt-period"),
      realtimeRuntime: signed("cpu-rt-runtime"),
      idle: signed("cpu-idle"),
      cpus: text(flags["cpuset-cpus"]),
      mems: text(flags["cpuset-mems"]),
    },
    ...(limit === undefined ? {} : { pids: { limit } }),
    ...(weight === undefined ? {} : { blockIO: { weight: Number(weight) } }),
  };
  checkPart({ ociVersion: "", linux: { resources } }, "resources");
  return resources;
}

function given(flags: FlagValues, name: string, parse: (value: string) => bigint | undefined): bigint | undefined {
  const value = text(flags[name]);
  if (value === undefined) return undefined;
  const parsed = parse(value);
  if (parsed === undefined) throw new RuntError("usage", `invalid value for ${name}: ${JSON.stringify(value)}`);
  return parsed;
}

const UNITS = "bkmgtp";

/** A number with an optional binary unit in any case (64m, 1.5GiB, 512kb); -1 is unlimited. undefined when it is none. */
export function parseSize(value: string): bigint | undefined {
  if (value === "-1") return -1n;
  const match = /^(\d{1,18})(\.\d{1,9})?\s?(?:([kmgtp])(?:i?b)?|b)?$/i.exec(value);
  if (match === null) return undefined;
  const [, whole = "", fraction, unit = "b"] = match;
  const factor = 1n << (10n * BigInt(UNITS.indexOf(unit.toLowerCase())));
  const rest = fraction === undefined ? 0n : BigInt(Math.trunc(Number(fraction) * Number(factor)));
  return BigInt(whole) * factor + rest;
}
