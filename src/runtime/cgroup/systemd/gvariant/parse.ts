/** GVariant text -> a D-Bus value with its type. Strict: what does not fit its type exactly is refused. */

import { encodeUtf8 } from "../../../../shared/text/index.ts";
import { parseSignature, parseType, signatureOf } from "../wire/signature.ts";
import { BASIC_CODES, INTEGER_RANGE, isInteger, isObjectPath, type Type, type Value, type Variant } from "../wire/types.ts";
import { type Node, scan } from "./scan.ts";

/** @throws RangeError */
export function parseGvariant(text: string): Variant {
  const node = scan(text);
  const type = infer(node);
  const value = convert(node, type);
  const signature = signatureOf(type);
  // Nesting and length have the limits of D-Bus.
  parseType(signature);
  return { signature, value };
}

/** The type that a value has by itself: numbers without a type are int32 or double, as in GLib. */
function infer(node: Node): Type {
  switch (node.kind) {
    case "boolean":
      return { code: "b" };
    case "number":
      return { code: isFloat(node.text) ? "d" : "i" };
    case "string":
      return { code: "s" };
    case "bytes":
      return { code: "a", element: { code: "y" } };
    case "typed":
      return node.type;
    case "variant":
      return { code: "v" };
    case "structure":
      return { code: "(", fields: node.items.map(infer) };
    case "entry":
      throw new RangeError("an entry outside of a dictionary");
    case "array":
      return { code: "a", element: infer(model(node.items)) };
    case "dictionary":
      return { code: "a", element: inferEntry(node.items) };
  }
}

function inferEntry(items: readonly Node[]): Type {
  const entries = items.flatMap((item) => (item.kind === "entry" ? [item.items] : []));
  const key = infer(model(entries.map(([first]) => first)));
  if (!BASIC_CODES.has(key.code)) throw new RangeError("a key that is not of a basic type");
  return { code: "{", key, value: infer(model(entries.map(([, second]) => second))) };
}

/** Which of several items says of what type all of them are: the first that says it outright. */
function model(items: readonly Node[]): Node {
  const found = items.find(isFirm) ?? items.find(({ kind }) => kind !== "number") ?? items.find(isFloatNode) ?? items[0];
  if (found === undefined) throw new RangeError("an empty list needs its type in front: @as []");
  return found;
}

function isFirm(node: Node): boolean {
  switch (node.kind) {
    case "typed":
    case "variant":
      return true;
    case "array":
    case "dictionary":
      return node.items.some(isFirm);
    case "structure":
    case "entry":
      return node.items.every((item) => isFirm(item) || (item.kind !== "number" && item.kind !== "array"));
    default:
      return false;
  }
}

function isFloatNode(node: Node): boolean {
  return node.kind === "number" && isFloat(node.text);
}

function isFloat(text: string): boolean {
  return /[.]|inf|nan/.test(text) || (/e/i.test(text) && !/^[+-]?0x/i.test(text));
}

function convert(node: Node, type: Type): Value {
  if (node.kind === "typed") {
    if (signatureOf(node.type) !== signatureOf(type)) throw mismatch(signatureOf(node.type), type);
    return convert(node.value, type);
  }
  switch (type.code) {
    case "a":
      return convertArray(node, type.element);
    case "(":
      if (node.kind !== "structure" || node.items.length !== type.fields.length) throw mismatch(node.kind, type);
      return node.items.map((item, index) => convert(item, type.fields[index]!));
    case "{":
      if (node.kind !== "entry") throw mismatch(node.kind, type);
      return [convert(node.items[0], type.key), convert(node.items[1], type.value)];
    case "v":
      return convertVariant(node);
    case "b":
      if (node.kind !== "boolean") throw mismatch(node.kind, type);
      return node.value;
    case "d":
      if (node.kind !== "number") throw mismatch(node.kind, type);
      return toDouble(node.text);
    case "s":
    case "o":
    case "g":
      return convertText(node, type);
    default:
      if (node.kind !== "number") throw mismatch(node.kind, type);
      return toInteger(node.text, type);
  }
}

function convertArray(node: Node, element: Type): Value {
  const type: Type = { code: "a", element };
  if (node.kind === "bytes") {
    if (element.code !== "y") throw mismatch("byte string", type);
    return node.value;
  }
  if (node.kind !== (element.code === "{" ? "dictionary" : "array")) throw mismatch(node.kind, type);
  const values = node.items.map((item) => convert(item, element));
  return element.code === "y" ? Uint8Array.from(values as number[]) : values;
}

function convertVariant(node: Node): Variant {
  if (node.kind !== "variant") throw mismatch(node.kind, { code: "v" });
  const type = infer(node.value);
  return { signature: signatureOf(type), value: convert(node.value, type) };
}

function convertText(node: Node, type: Type): string {
  if (node.kind !== "string") throw mismatch(node.kind, type);
  const { value } = node;
  if (value.includes("\0")) throw new RangeError("a string with a NUL");
  encodeUtf8(value);
  if (type.code === "o" && !isObjectPath(value)) throw new RangeError(`"${value}" is not an object path`);
  if (type.code === "g") parseSignature(value);
  return value;
}

function toDouble(text: string): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const bare = text.replace(/^[+-]/, "");
  if (bare === "inf") return sign * Number.POSITIVE_INFINITY;
  return bare === "nan" ? Number.NaN : sign * Number(bare);
}

/** Digits as strtoull(3) with base 0 takes them. 64 bits are bigint. */
function toInteger(text: string, type: Type): number | bigint {
  const { code } = type;
  const match = /^([+-]?)(0x[0-9a-f]+|0[0-7]+|0|[1-9]\d*)$/i.exec(text);
  if (match === null || !isInteger(code)) throw new RangeError(`${text} is not an integer`);
  const [, sign, digits = ""] = match;
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = sign === "-" ? -size : size;
  const [lowest, highest] = INTEGER_RANGE[code];
  if (value < lowest || value > highest) throw new RangeError(`${text} does not fit into the type ${code}`);
  return code === "x" || code === "t" ? value : Number(value);
}

function mismatch(found: string, type: Type): RangeError {
  return new RangeError(`a value (${found}) that is not of the type ${signatureOf(type)}`);
}
