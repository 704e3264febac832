/** Prepares the value of a Compose file for its schema: variables are replaced, null fields and extensions removed. */
import { Numeral, type Problem, type ReadOptions, Timestamp } from "../../engine/spec/index.ts";
import type { Expansion } from "../expansion.ts";
import { withoutNulls } from "../nulls.ts";
import { fieldsOf, isMap } from "./fields.ts";
import { type Environment, interpolate } from "./interpolate.ts";

type Path = readonly (string | number)[];

/** How the documents of a project are read. */
export const AS_COMPOSE: ReadOptions = { merge: true, tags: ["!reset", "!override"], textKeys: true, ofGo: true };

export interface Preparation {
  readonly environment: Environment;
  /** Shared by all files of a project, so that the limit holds for all together. */
  readonly expansion: Expansion;
  /** Variables without a value that were already reported. */
  readonly unset: Set<string>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

export function prepared(value: unknown, preparation: Preparation): unknown {
  return withVariables(withoutNullFields(withNumbers(value, preparation, [])), preparation, []);
}

/** Converts numbers to the text that Go makes of them, where any value is a text, and bytes to text. */
function withNumbers(value: unknown, given: Preparation, path: Path): unknown {
  if (value instanceof Numeral) return NAMES.has(String(path.at(-2))) ? value.text : value.value;
  // What !!binary gives.
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Timestamp) {
    if (!path.some((part) => String(part).startsWith("x-")))
      given.problems.push({ code: "shape", message: `is a date: write "${value.text}" in quotes`, path });
    return value.text;
  }
  if (Array.isArray(value)) return value.map((one, index) => withNumbers(one, given, [...path, index]));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNumbers(one, given, [...path, key])]));
}

/** Replaces variables in all values, but not in keys. */
function withVariables(value: unknown, given: Preparation, path: Path): unknown {
  if (typeof value === "string") {
    const unset = (name: string) => {
      if (given.unset.has(name)) return;
      given.unset.add(name);
      given.warnings.push({ code: "unknown-reference", message: `the variable ${name} is not set: it is empty`, path });
    };
    try {
      return interpolate(value, given.environment, given.expansion, unset);
    } catch (error) {
      given.problems.push({ code: "syntax", message: (error as Error).message, path });
      return value;
    }
  }
  if (Array.isArray(value)) return value.map((one, index) => withVariables(one, given, [...path, index]));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withVariables(one, given, [...path, key])]));
}

/**
 * Fields that may be null in Compose: they have their default, or the value of a variable. "*" stands for any key or index. Source:
 * compose-spec.json.
 */
const NULLABLE = [
  ...["include", "networks/*", "volumes/*", "*/*/labels/*", "services/*/command", "services/*/entrypoint"],
  ...["services/*/deploy", "services/*/develop", "services/*/pid", "services/*/networks/*", "services/*/models/*"],
  ...["annotations", "environment", "labels", "sysctls", "logging/options"].map((field) => `services/*/${field}/*`),
  ...["additional_contexts", "args", "labels", "ssh"].map((field) => `services/*/build/${field}/*`),
  ...["deploy/labels/*", "deploy/resources/reservations/devices/*/options/*", "gpus/*/options/*", "volumes/*/volume/labels/*"].map(
    (field) => `services/*/${field}`,
  ),
  ...["post_start", "pre_stop"].flatMap((field) => ["command", "environment/*"].map((inner) => `services/*/${field}/*/${inner}`)),
  ...["command", "environment/*"].map((field) => `services/*/develop/watch/*/exec/${field}`),
].map((path) => path.split("/"));

/**
 * Reports fields without a value, which Compose refuses except for those above. In a later file such a field is ignored if an earlier file has a
 * value for it.
 * @param below value of the earlier files; null: none
 */
export function emptyFields(value: unknown, below: unknown, path: Path = []): Problem[] {
  if (value === null) {
    const isTaken = below !== null || NULLABLE.some((one) => fits(one, path));
    return isTaken ? [] : [{ code: "shape", message: "has no value: leave it out, or give it one", path }];
  }
  if (Array.isArray(value)) return value.flatMap((one, index) => emptyFields(one, null, [...path, index]));
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    if (key.startsWith("x-") && !NAMES.has(String(path.at(-1)))) return [];
    // The test of a healthcheck replaces an earlier one as a whole, so that nothing is inherited.
    return emptyFields(one, key === "test" ? null : (fieldsOf(below)[key] ?? null), [...path, key]);
  });
}

function fits(pattern: readonly string[], path: Path): boolean {
  return pattern.length === path.length && pattern.every((part, at) => part === "*" || part === path[at]);
}

/** Removes null fields, except in environments and arguments, where a variable without a value has a meaning. */
function withoutNullFields(value: unknown): unknown {
  const stripped = withoutNulls(value);
  const given = fieldsOf(value);
  const services = fieldsOf(given["services"]);
  if (Object.keys(services).length === 0) return stripped;
  const clean = fieldsOf(fieldsOf(stripped)["services"]);
  // A service without any fields must still exist.
  const restored = Object.keys(services).map((name) => {
    const { environment, labels, annotations, sysctls, networks, build, command, entrypoint } = fieldsOf(services[name]);
    const one = clean[name] ?? {};
    const kept = {
      ...maps({ environment, labels, annotations, sysctls }),
      ...(isMap(networks) ? { networks: withNulls(networks) } : {}),
      // A null in a later file removes the value of an earlier one.
      ...(command === null ? { command } : {}),
      ...(entrypoint === null ? { entrypoint } : {}),
      ...(isMap(build)
        ? { build: { ...fieldsOf(fieldsOf(one)["build"]), ...maps({ args: build["args"], ssh: build["ssh"], labels: build["labels"] }) } }
        : {}),
    };
    return [name, isMap(one) ? { ...one, ...kept } : one];
  });
  const named = ["networks", "volumes"].flatMap((field) => (isMap(given[field]) ? [[field, withNulls(given[field])]] : []));
  return { ...fieldsOf(stripped), ...Object.fromEntries(named), services: Object.fromEntries(restored) };
}

/** The fields that are maps. In these a name without a value means the value of a variable, or an empty one. */
function maps(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => isMap(one)));
}

/** Keeps null values of the fields themselves, but not below them. */
function withNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, one === null ? null : withoutNulls(one)]));
}

/** Fields of a service that are ignored when they are empty, for example because a variable has no value. */
const TEXTS = [
  ...["cgroup_parent", "cpuset", "dns", "domainname", "hostname", "ipc", "isolation", "mac_address", "network_mode", "pid"],
  ...["platform", "restart", "runtime", "stop_signal", "tmpfs", "user", "userns_mode", "uts", "working_dir"],
];

export function withoutEmptyTexts(value: unknown): unknown {
  const { services } = fieldsOf(value);
  if (!isMap(services)) return value;
  const kept = (service: unknown) =>
    isMap(service) ? Object.fromEntries(Object.entries(service).filter(([key, one]) => one !== "" || !TEXTS.includes(key))) : service;
  return { ...fieldsOf(value), services: Object.fromEntries(Object.entries(services).map(([name, one]) => [name, kept(one)])) };
}

/** Maps whose keys are names chosen by the user. In them "x-..." is a name and no extension. Source: compose-spec.json, "patternProperties". */
const NAMES: ReadonlySet<string> = new Set([
  "services",
  "networks",
  "volumes",
  "secrets",
  "configs",
  "environment",
  "labels",
  "args",
  "additional_contexts",
  "annotations",
  "sysctls",
  "options",
  "driver_opts",
]);

/** Fields of our own. */
const OWN = new Set(["x-runt-rootfs", "x-runt-drain"]);

/** Removes fields that begin with "x-", which belong to the user. */
export function withoutExtensions(value: unknown, isOfNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutExtensions(one));
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([key]) => isOfNames || !key.startsWith("x-") || OWN.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutExtensions(one, !isOfNames && NAMES.has(key))]));
}
