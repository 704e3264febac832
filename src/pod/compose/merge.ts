/** Merges two definitions of one service. Source: Compose specification, "Merging service definitions". */
import { canonicalJson } from "../../engine/spec/index.ts";
import { type Fields, fieldsOf, isMap } from "./fields.ts";
import { absolute, placeOf } from "./paths.ts";

/** Fields that are maps, but may be written as lists of NAME=VALUE. */
const PAIRS: ReadonlySet<string> = new Set([
  "additional_contexts",
  "annotations",
  "args",
  "environment",
  "extra_hosts",
  "labels",
  "sysctls",
]);
/** Fields that are maps, but may be written as lists of names. */
const NAMED: ReadonlySet<string> = new Set(["depends_on", "networks"]);
/** Lists in which duplicates are removed. */
const SETS: ReadonlySet<string> = new Set([
  "cap_add",
  "cap_drop",
  "configs",
  "dns",
  "dns_opt",
  "dns_search",
  "env_file",
  "expose",
  "label_file",
  "ports",
  "profiles",
  "secrets",
  "security_opt",
  "tags",
  "tmpfs",
]);
/** Lists that are replaced as a whole. */
const WHOLE: ReadonlySet<string> = new Set(["command", "entrypoint", "test"]);

/** `above` takes precedence over `below`. Maps and most lists are joined, those of `below` first. */
export function merged(below: Fields, above: Fields): Fields {
  const keys = Object.keys(above).filter((key) => key in below);
  return { ...below, ...above, ...Object.fromEntries(keys.map((key) => [key, mergedField(key, below[key], above[key])])) };
}

/** Maps at the top of a file whose entries are merged one by one. */
const KINDS = ["services", "networks", "volumes", "secrets", "configs"];

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

function mergedField(key: string, below: unknown, above: unknown): unknown {
  if (WHOLE.has(key)) return above;
  if (key === "volumes" && Array.isArray(below) && Array.isArray(above)) {
    const targets = new Set(above.map(targetOf));
    return [...below.filter((one) => !targets.has(targetOf(one))), ...above];
  }
  // Options of one logging driver have no meaning for another driver.
  if (key === "logging" && fieldsOf(above)["driver"] !== undefined && fieldsOf(above)["driver"] !== fieldsOf(below)["driver"]) return above;
  const [lower, upper] = [listOf(key, mapOf(key, below)), listOf(key, mapOf(key, above))];
  if (isMap(lower) && isMap(upper)) return merged(lower, upper);
  if (!Array.isArray(lower) || !Array.isArray(upper)) return upper;
  if (!SETS.has(key)) return [...lower, ...upper];
  const present = new Set(lower.map(canonicalJson));
  return [...lower, ...upper.filter((one) => !present.has(canonicalJson(one)))];
}

/** Fields that are lists, but may be written as a string. */
const LISTS: ReadonlySet<string> = new Set(["dns", "dns_search", "env_file", "label_file", "tmpfs"]);

function listOf(key: string, value: unknown): unknown {
  if (key === "build" && typeof value === "string") return { context: value };
  return LISTS.has(key) && typeof value === "string" ? [value] : value;
}

/** Converts a list to the map that it stands for. Other values stay the same. */
function mapOf(key: string, value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) return value;
  if (PAIRS.has(key)) return Object.fromEntries(value.map(pairOf));
  return NAMED.has(key) ? Object.fromEntries(value.map((name) => [name, key === "networks" ? null : {}])) : value;
}

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
  const ofFile = (one: Fields) => ({ ...one, ...(typeof one["file"] === "string" ? { file: absolute(directory, one["file"]) } : {}) });
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
  const inside = (path: unknown) => (typeof path === "string" && !isElsewhere(path) ? absolute(directory, path) : path);
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
  if (typeof file === "string") return absolute(directory, file);
  const { path } = fieldsOf(file);
  return typeof path === "string" ? { ...fieldsOf(file), path: absolute(directory, path) } : file;
}
