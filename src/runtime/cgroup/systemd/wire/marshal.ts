/** Values -> bytes, little endian. Source: D-Bus specification, "Marshaling". */

import { encodeUtf8, writeAscii } from "../../../../shared/text/index.ts";
import { parseSignature, parseType, signatureOf } from "./signature.ts";
import { alignmentOf, INTEGER_RANGE, isInteger, isObjectPath, type Type, type Value, type Variant } from "./types.ts";

/** Bytes of an array. */
export const ARRAY_LIMIT = 1 << 26;
const FIRST_SIZE = 512;

interface Writer {
  bytes: Uint8Array;
  view: DataView;
  length: number;
}

/** A body, or any other sequence of values that starts at a multiple of 8. @throws RangeError for values that are not of their type */
export function marshal(signature: string, values: readonly Value[]): Uint8Array {
  const types = parseSignature(signature);
  if (types.length !== values.length) throw new RangeError(`${values.length} values for the signature "${signature}"`);
  const bytes = new Uint8Array(FIRST_SIZE);
  const writer: Writer = { bytes, view: new DataView(bytes.buffer), length: 0 };
  for (let index = 0; index < types.length; index++) write(writer, types[index]!, values[index]!);
  return writer.bytes.slice(0, writer.length);
}

/** Room for `size` bytes after zeros up to the alignment; where they are. */
function reserve(writer: Writer, alignment: number, size: number): number {
  const start = (writer.length + alignment - 1) & -alignment;
  if (start + size > writer.bytes.length) {
    const grown = new Uint8Array(Math.max(2 * writer.bytes.length, start + size));
    grown.set(writer.bytes.subarray(0, writer.length));
    writer.bytes = grown;
    writer.view = new DataView(grown.buffer);
  }
  writer.length = start + size;
  return start;
}

function write(writer: Writer, type: Type, value: Value): void {
  switch (type.code) {
    case "s":
    case "o":
      writeText(writer, type.code, textOf(type, value));
      break;
    case "g":
      writeSignature(writer, textOf(type, value));
      break;
    case "b":
      if (typeof value !== "boolean") throw mismatch(type, value);
      writeWord(writer, Number(value));
      break;
    case "d":
      if (typeof value !== "number") throw mismatch(type, value);
      writeDouble(writer, value);
      break;
    case "v":
      writeVariant(writer, value);
      break;
    case "a":
      writeArray(writer, type.element, value);
      break;
    case "(":
      writeFields(writer, type.fields, value);
      break;
    case "{":
      writeFields(writer, [type.key, type.value], value);
      break;
    default:
      writeInteger(writer, type, value);
  }
}

function writeWord(writer: Writer, value: number): void {
  // The view is another one when there was no room.
  const at = reserve(writer, 4, 4);
  writer.view.setUint32(at, value, true);
}

function writeDouble(writer: Writer, value: number): void {
  const at = reserve(writer, 8, 8);
  writer.view.setFloat64(at, value, true);
}

function writeInteger(writer: Writer, type: Type, value: Value): void {
  const { code } = type;
  if (code === "u" && typeof value === "number" && value >= 0 && value === value >>> 0) {
    writeWord(writer, value);
    return;
  }
  const exact = typeof value === "bigint" ? value : typeof value === "number" && Number.isInteger(value) ? BigInt(value) : undefined;
  if (!isInteger(code) || exact === undefined) throw mismatch(type, value);
  const [lowest, highest] = INTEGER_RANGE[code];
  if (exact < lowest || exact > highest) throw new RangeError(`${exact} does not fit into the D-Bus type ${code}`);
  const size = alignmentOf(code);
  const at = reserve(writer, size, size);
  if (size === 8) writer.view.setBigUint64(at, BigInt.asUintN(64, exact), true);
  else if (size === 4) writer.view.setUint32(at, Number(BigInt.asUintN(32, exact)), true);
  else if (size === 2) writer.view.setUint16(at, Number(BigInt.asUintN(16, exact)), true);
  else writer.view.setUint8(at, Number(exact));
}

function textOf(type: Type, value: Value): string {
  if (typeof value !== "string") throw mismatch(type, value);
  if (value.includes("\0")) throw new RangeError("D-Bus text with a NUL");
  return value;
}

function writeText(writer: Writer, code: "s" | "o", text: string): void {
  if (code === "o" && !isObjectPath(text)) throw new RangeError(`"${text}" is not a D-Bus object path`);
  const start = writer.length;
  const at = reserve(writer, 4, 4 + text.length + 1);
  if (writeAscii(text, writer.bytes, at + 4)) {
    writer.view.setUint32(at, text.length, true);
    return;
  }
  const bytes = encodeUtf8(text);
  writer.length = start;
  reserve(writer, 4, 4 + bytes.length + 1);
  writer.view.setUint32(at, bytes.length, true);
  writer.bytes.set(bytes, at + 4);
}

function writeSignature(writer: Writer, signature: string): void {
  parseSignature(signature);
  const at = reserve(writer, 1, signature.length + 2);
  writer.bytes[at] = signature.length;
  for (let index = 0; index < signature.length; index++) writer.bytes[at + 1 + index] = signature.charCodeAt(index);
}

function writeVariant(writer: Writer, value: Value): void {
  const { signature, value: inner } = variantOf(value);
  const type = parseType(signature);
  writeSignature(writer, signature);
  write(writer, type, inner);
}

function variantOf(value: Value): Variant {
  if (typeof value !== "object" || !("signature" in value)) throw mismatch({ code: "v" }, value);
  return value;
}

function writeArray(writer: Writer, element: Type, value: Value): void {
  const length = reserve(writer, 4, 4);
  // The padding before the first element does not count.
  const start = reserve(writer, alignmentOf(element.code), 0);
  if (value instanceof Uint8Array) {
    if (element.code !== "y") throw mismatch({ code: "a", element }, value);
    const at = reserve(writer, 1, value.length);
    writer.bytes.set(value, at);
  } else {
    if (!Array.isArray(value)) throw mismatch({ code: "a", element }, value);
    for (const item of value) write(writer, element, item);
  }
  if (writer.length - start > ARRAY_LIMIT) throw new RangeError("D-Bus array of more than 64 MiB");
  writer.view.setUint32(length, writer.length - start, true);
}

function writeFields(writer: Writer, fields: readonly Type[], value: Value): void {
  if (!Array.isArray(value) || value.length !== fields.length) throw mismatch({ code: "(", fields }, value);
  reserve(writer, 8, 0);
  for (let index = 0; index < fields.length; index++) write(writer, fields[index]!, value[index]);
}

function mismatch(type: Type, value: Value): RangeError {
  return new RangeError(`a ${typeof value} is not of the D-Bus type ${signatureOf(type)}`);
}
