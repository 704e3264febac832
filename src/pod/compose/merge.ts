/** Merges two definitions of one service. Source: Compose specification, "Merging service definitions". */
import { canonicalJson } from "../../engine/spec/index.ts";
import { type Fields, fieldsOf, isMap } from "./fields.ts";

/** Fields that are maps, but may be written as lists of NAME=VALUE. */
const PAIRS: ReadonlySet<string> = new Set(["annotations", "environment", "labels", "sysctls"]);
/** Fields that are maps, but may be written as lists of names. */
const NAMED: ReadonlySet<string> = new Set(["depends_on", "networks"]);
/** Lists in which duplicates are removed. */
const SETS: ReadonlySet<string> = new Set(["cap_add", "cap_drop", "configs", "expose", "ports", "secrets"]);
/** Lists that are replaced as a whole. */
const WHOLE: ReadonlySet<string> = new Set(["command", "entrypoint", "test"]);

/** `above` takes precedence over `below`. Maps and most lists are joined, those of `below` first. */
export function merged(below: Fields, above: Fields): Fields {
  const keys = Object.keys(above).filter((key) => key in below);
  return { ...below, ...above, ...Object.fromEntries(keys.map((key) => [key, joined(key, below[key], above[key])])) };
}

function joined(key: string, below: unknown, above: unknown): unknown {
  if (WHOLE.has(key)) return above;
  if (key === "volumes" && Array.isArray(below) && Array.isArray(above)) {
    const targets = new Set(above.map(targetOf));
    return [...below.filter((one) => !targets.has(targetOf(one))), ...above];
  }
  const [lower, upper] = [mapOf(key, below), mapOf(key, above)];
  if (isMap(lower) && isMap(upper)) return merged(lower, upper);
  if (!Array.isArray(lower) || !Array.isArray(upper)) return upper;
  if (!SETS.has(key)) return [...lower, ...upper];
  const present = new Set(lower.map(canonicalJson));
  return [...lower, ...upper.filter((one) => !present.has(canonicalJson(one)))];
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
  if (typeof mount !== "string") return fieldsOf(mount)["target"];
  const [first, second = first] = mount.split(":");
  return second;
}
