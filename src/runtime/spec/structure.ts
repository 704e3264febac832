/**
 * Everything that is wrong with the structure of a configuration, not only the first: for `runt validate`. It walks along the shape
 * that is generated from the schemas, as the validator of `create` is (a test holds the two to the same answers).
 */
import shape, { type Shape } from "../../../build/gen/shape.js";
import { describe, INTEGERS } from "./explain.ts";
import { type JsonValue, pointerToken } from "./json.ts";
import { closeNames } from "./similar.ts";

export interface Violation {
  /** A value of another type, no value where one is required, an integer out of range or with a fraction. */
  readonly kind: "type" | "missing" | "range";
  readonly pointer: string;
  /** Without the pointer: "expected string, found number". */
  readonly reason: string;
}

/** A name that is no field: it has no effect. */
export interface StrangeName {
  readonly pointer: string;
  readonly name: string;
  /** The same word in other letters. */
  readonly inCase?: string;
  readonly close: readonly string[];
}

export interface Structure {
  readonly violations: readonly Violation[];
  readonly strangers: readonly StrangeName[];
}

/** -2^63 and the like: what the names of the integer types stand for. */
const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  uint16: [0n, 0xffffn],
  uint32: [0n, 0xffff_ffffn],
  int32: [-0x8000_0000n, 0x7fff_ffffn],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  uint64: [0n, (1n << 64n) - 1n],
};

/** Names that are listed in full where nothing is close. */
const FEW = 6;
/** Close names are looked for so many times: a configuration with more strange names is another document. */
const MOST_SEARCHES = 50;

type Members = { readonly [name: string]: JsonValue };

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Walk a whole configuration. */
export function findStructure(value: JsonValue, root: Shape = shape): Structure {
  const violations: Violation[] = [];
  const strangers: StrangeName[] = [];
  const wrongType = (pointer: string, expected: string, found: JsonValue): void => {
    const type = typeof found === "number" || typeof found === "bigint" ? "number" : describe(found);
    violations.push({ kind: "type", pointer, reason: `expected ${expected}, found ${type}` });
  };

  const walk = (node: Shape, found: JsonValue, pointer: string): void => {
    if (typeof node === "string") walkScalar(node, found, pointer);
    else if ("l" in node) {
      if (!Array.isArray(found)) wrongType(pointer, "array", found);
      else
        for (let index = 0; index < found.length; index++)
          if (typeof found[index] !== node.l) walk(node.l, found[index]!, `${pointer}/${index}`);
    } else if (!isObject(found)) wrongType(pointer, "object", found);
    else if ("m" in node) {
      for (const [name, item] of Object.entries(found)) walk(node.m, item, `${pointer}/${pointerToken(name)}`);
    } else {
      for (const name of node.r)
        if (!Object.hasOwn(found, name))
          violations.push({ kind: "missing", pointer: `${pointer}/${pointerToken(name)}`, reason: "required but missing" });
      walkFields(node.f, node.r, found, pointer);
    }
  };

  const walkFields = (fields: Readonly<Record<string, Shape>>, required: readonly string[], found: Members, pointer: string): void => {
    for (const name of Object.keys(found)) {
      const item = found[name]!;
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      // Most are as they should be: only what is wrong, or has parts, needs its pointer.
      if (typeof item === field || isListOf(item, field)) continue;
      const here = `${pointer}/${pointerToken(name)}`;
      if (field === undefined) strangers.push(strangeName(name, strangers.length < MOST_SEARCHES ? Object.keys(fields) : [], here));
      else if (item !== null || required.includes(name)) walk(field, item, here);
    }
  };

  const walkScalar = (type: string, found: JsonValue, pointer: string): void => {
    if (type === "unknown" || typeof found === type) return;
    const range = RANGES[type];
    if (range === undefined) wrongType(pointer, type, found);
    else if (typeof found !== "number" && typeof found !== "bigint") wrongType(pointer, "integer", found);
    else if (!isBetween(found, range))
      violations.push({ kind: "range", pointer, reason: `expected ${INTEGERS[type]}, found ${describe(found)}` });
  };

  walk(root, value, "");
  return { violations, strangers };
}

/** What such a shape says of the items is one word. */
function isListOf(value: JsonValue, shape: Shape | undefined): boolean {
  if (typeof shape !== "object" || !("l" in shape) || !Array.isArray(value)) return false;
  for (const item of value) if (typeof item !== shape.l) return false;
  return true;
}

function isBetween(value: number | bigint, [low, high]: readonly [bigint, bigint]): boolean {
  if (typeof value === "number" && !Number.isInteger(value)) return false;
  return value >= low && value <= high;
}

function strangeName(name: string, fields: readonly string[], pointer: string): StrangeName {
  const inCase = fields.find((field) => field.toLowerCase() === name.toLowerCase());
  if (inCase !== undefined) return { pointer, name, inCase, close: [inCase] };
  const close = closeNames(name, fields);
  return { pointer, name, close: close.length > 0 || fields.length > FEW ? close : fields };
}
