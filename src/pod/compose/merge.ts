/** Merges two definitions of one service. Source: Compose specification, "Merging service definitions". */
import { canonicalJson } from "../../engine/spec/index.ts";
import { type Fields, fieldsOf, isMap } from "./fields.ts";
import { absolute, absoluteOrHome, placeOf } from "./paths.ts";

/** Fields that are maps, but may be written as lists of NAME=VALUE. */
const PAIRS: ReadonlySet<string> = new Set(["additional_contexts", "annotations", "args", "environment", "labels", "sysctls"]);
/** Fields that are maps, but may be written as lists of names. */
const NAMED: ReadonlySet<string> = new Set(["depends_on", "networks"]);
/** Lists in which duplicates are removed. */
const SETS: ReadonlySet<string> = new Set([
  "cap_add",
  "cap_drop",
  "dns",
  "dns_opt",
  "dns_search",
  "expose",
  "label_file",
  "links",
  "ports",
  "profiles",
  "security_opt",
  "tags",
]);
/** Lists that are replaced as a whole. */
const WHOLE: ReadonlySet<string> = new Set(["command", "entrypoint", "test"]);

/**
 * `above` takes precedence over `below`. Maps and most lists are joined, those of `below` first.
 * @param place path of the two within a service or another part of a file, with a slash behind each part
 */
export function merged(below: Fields, above: Fields, place = ""): Fields {
  const keys = Object.keys(above).filter((key) => key in below);
  return { ...below, ...above, ...Object.fromEntries(keys.map((key) => [key, mergedField(key, below[key], above[key], place)])) };
}

/** Maps at the top of a file whose entries are merged one by one. */
export const KINDS: readonly string[] = ["services", "networks", "volumes", "secrets", "configs", "models"];

/** Merges two files of a project; `above` takes precedence. */
export function mergedFiles(below: unknown, above: unknown): unknown {
  const [lower, upper] = [fieldsOf(below), fieldsOf(above)];
  const kinds = KINDS.filter((kind) => isMap(lower[kind]) && isMap(upper[kind]));
  const all = kinds.map((kind) => {
    const [first, second] = [fieldsOf(lower[kind]), fieldsOf(upper[kind])];
    const both = Object.keys(second).filter((name) => isMap(first[name]) && isMap(second[name]));
    return [
      kind,
      { ...first, ...second, ...Object.fromEntries(both.map((name) => [name, merged(fieldsOf(first[name]), fieldsOf(second[name]))])) },
    ];
  });
  return { ...lower, ...upper, ...Object.fromEntries(all) };
}

/** The value without the field at this path. */
export function withoutPath(value: unknown, [part, ...rest]: readonly (string | number)[]): unknown {
  if (part === undefined || !isMap(value) || !Object.hasOwn(value, String(part))) return value;
  const { [String(part)]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...value, [String(part)]: withoutPath(inner, rest) };
}

function mergedField(key: string, below: unknown, above: unknown, place: string): unknown {
  // Both parts of a limit belong together.
  if (WHOLE.has(key) || place === "ulimits/") return above;
  // Options of one logging driver have no meaning for another driver.
  if (key === "logging" && differ(fieldsOf(below)["driver"], fieldsOf(above)["driver"])) return above;
  const path = `${place}${key}`;
  if (path === "ipam/config" && Array.isArray(below) && Array.isArray(above)) return ofSubnets(below, above);
  const [lower, upper] = [listOf(key, mapOf(key, below)), listOf(key, mapOf(key, above))];
  if (isMap(lower) && isMap(upper)) return merged(lower, upper, `${path}/`);
  if (!Array.isArray(lower) || !Array.isArray(upper)) return upper;
  const all = [...lower, ...upper];
  if (KEYED[path] !== undefined) return lastOfEach(all, KEYED[path]);
  if (!SETS.has(key) && key !== "extra_hosts") return all;
  const present = new Set(lower.map(canonicalJson));
  return [...lower, ...upper.filter((one) => !present.has(canonicalJson(one)))];
}

function differ(a: unknown, b: unknown): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

/** What of an entry of a list may be there only once, by the path of the list in a service. Source: compose-go, override/uncity.go. */
const KEYED: Readonly<Record<string, (entry: unknown) => unknown>> = {
  configs: (one) => fileOf(one, ""),
  devices: (one) => (typeof one === "string" ? (one.split(":")[1] ?? one) : fieldsOf(one)["target"]),
  env_file: (one) => (typeof one === "string" ? one : fieldsOf(one)["path"]),
  secrets: (one) => fileOf(one, "/run/secrets"),
  tmpfs: (one) => (typeof one === "string" ? one.split("=")[0] : undefined),
  volumes: targetOf,
};

/** Of several entries with the same key the last one counts, at the place of the first one. Entries without a key stay. */
function lastOfEach(list: readonly unknown[], keyOf: (entry: unknown) => unknown): unknown[] {
  const found = new Map<unknown, unknown>();
  for (const [at, one] of list.entries()) found.set(keyOf(one) ?? at, one);
  return [...found.values()];
}

/** The file without entries of lists of its services that later ones of the same list replace. */
export function withoutReplaced(file: unknown): unknown {
  const services = fieldsOf(file)["services"];
  if (!isMap(services)) return file;
  const each = Object.entries(services).map(([name, service]) => {
    const lists = Object.entries(KEYED).flatMap(([field, keyOf]) => {
      const list = fieldsOf(service)[field];
      return Array.isArray(list) ? [[field, lastOfEach(list, keyOf)]] : [];
    });
    return [name, lists.length === 0 ? service : { ...fieldsOf(service), ...Object.fromEntries(lists) }];
  });
  return { ...fieldsOf(file), services: Object.fromEntries(each) };
}

function fileOf(entry: unknown, directory: string): unknown {
  const { source = entry, target } = fieldsOf(entry);
  return target ?? `${directory}/${String(source)}`;
}

/** A range of addresses is that of the same subnet, or takes the place of another one. Source: compose-go, override/merge.go, mergeIPAMConfig. */
function ofSubnets(below: readonly unknown[], above: readonly unknown[]): unknown[] {
  const subnetOf = (one: unknown) => fieldsOf(one)["subnet"];
  const same = (one: unknown) => below.find((other) => subnetOf(other) === subnetOf(one));
  return above.map((one) => ({ ...fieldsOf(same(one)), ...fieldsOf(one) }));
}

/** Fields that are lists, but may be written as a string. */
const LISTS: ReadonlySet<string> = new Set(["dns", "dns_search", "env_file", "label_file", "tmpfs"]);

function listOf(key: string, value: unknown): unknown {
  if (key === "extra_hosts" && isMap(value))
    return Object.entries(value).flatMap(([name, all]) => (Array.isArray(all) ? all : [all]).map((one) => `${name}=${String(one)}`));
  if (key === "build" && typeof value === "string") return { context: value };
  return LISTS.has(key) && typeof value === "string" ? [value] : value;
}

/** Converts a list to the map that it stands for. Other values stay the same. */
function mapOf(key: string, value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) return value;
  if (PAIRS.has(key)) return Object.fromEntries(value.map(pairOf));
  return NAMED.has(key) ? Object.fromEntries(value.map((name) => [name, key === "networks" ? null : STARTED])) : value;
}

/** What a dependency in a list says. */
const STARTED = { condition: "service_started", required: true };

function pairOf(text: string): readonly [string, string | null] {
  const at = text.indexOf("=");
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function targetOf(mount: unknown): unknown {
  const [first, second = first] = typeof mount === "string" ? mount.split(":") : [fieldsOf(mount)["target"]];
  return typeof second === "string" ? placeOf(second) : second;
}

/** Makes relative paths of a file absolute, because they are relative to the file that contains them. */
export function withPathsIn(directory: string, value: unknown): unknown {
  const all = fieldsOf(value);
  const each = (kind: string, change: (one: Fields) => Fields) =>
    isMap(all[kind])
      ? { [kind]: Object.fromEntries(Object.entries(all[kind]).map(([name, one]) => [name, isMap(one) ? change(one) : one])) }
      : {};
  const ofFile = (one: Fields) => ({
    ...one,
    ...(typeof one["file"] === "string" ? { file: absoluteOrHome(directory, one["file"]) } : {}),
  });
  return { ...all, ...each("services", (one) => withPathsOf(directory, one)), ...each("secrets", ofFile), ...each("configs", ofFile) };
}

/** Makes relative paths of one service absolute. */
export function withPathsOf(directory: string, service: Fields): Fields {
  const { volumes, build } = service;
  const files = (["env_file", "label_file"] as const).flatMap((field) => {
    const given = service[field];
    const list = Array.isArray(given) ? given.map((one) => fileIn(directory, one)) : fileIn(directory, given);
    return given === undefined ? [] : [[field, list]];
  });
  return {
    ...service,
    ...(Array.isArray(volumes) ? { volumes: volumes.map((one) => mountIn(directory, one)) } : {}),
    ...(build === undefined ? {} : { build: buildIn(directory, build) }),
    ...Object.fromEntries(files),
  };
}

/** Paths of a build. The Dockerfile is relative to the context, and stays as it is. */
function buildIn(directory: string, build: unknown): unknown {
  const inside = (path: unknown) => (typeof path === "string" && !isElsewhere(path) ? absoluteOrHome(directory, path) : path);
  if (!isMap(build)) return inside(build);
  const { context = ".", additional_contexts: others } = build;
  const further = Array.isArray(others)
    ? others.map((one) => (typeof one === "string" ? one.replace(/^([^=]+=)(.*)$/s, (_, name, path) => `${name}${inside(path)}`) : one))
    : Object.fromEntries(Object.entries(fieldsOf(others)).map(([name, path]) => [name, inside(path)]));
  return { ...build, context: inside(context), ...(others === undefined ? {} : { additional_contexts: further }) };
}

/** Whether the context is no path of this host. Source: compose-go, paths/context.go. */
function isElsewhere(context: string): boolean {
  return context.includes("://") || /^(?:service:|github\.com\/|git@)/.test(context);
}

function mountIn(directory: string, mount: unknown): unknown {
  if (typeof mount === "string")
    return /^\.\.?(?:\/|:|$)/.test(mount) ? mount.replace(/^[^:]+/, (path) => absolute(directory, path)) : mount;
  const { type, source } = fieldsOf(mount);
  const isRelative = type === "bind" && typeof source === "string" && !source.startsWith("~");
  return isRelative ? { ...fieldsOf(mount), source: absolute(directory, source) } : mount;
}

function fileIn(directory: string, file: unknown): unknown {
  if (typeof file === "string") return absoluteOrHome(directory, file);
  const { path } = fieldsOf(file);
  return typeof path === "string" ? { ...fieldsOf(file), path: absoluteOrHome(directory, path) } : file;
}
