/** Bytes -> values; every length and offset comes from another program and is checked. */

import { decodeUtf8 } from "../../../../shared/text/index.ts";
import { ARRAY_LIMIT } from "./marshal.ts";
import { parseSignature, parseType } from "./signature.ts";
import { alignmentOf, isObjectPath, type Type, type Value } from "./types.ts";

/** Values in values, variants included (the specification's limit). */
const DEEPEST = 64;

interface Reader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly littleEndian: boolean;
  at: number;
}

/** All of the bytes as values of this signature. @throws RangeError for what is malformed, cut short, or longer */
export function unmarshal(signature: string, bytes: Uint8Array, littleEndian = true): Value[] {
  const reader: Reader = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), littleEndian, at: 0 };
  const values = parseSignature(signature).map((type) => read(reader, type, 0));
  if (reader.at !== bytes.length) throw new RangeError(`${bytes.length - reader.at} bytes behind the last D-Bus value`);
  return values;
}

/** Where the next `size` bytes are, behind zeros up to the alignment. */
function take(reader: Reader, alignment: number, size: number): number {
  const start = (reader.at + alignment - 1) & -alignment;
  if (start + size > reader.bytes.length) throw new RangeError("D-Bus message cut short");
  for (let at = reader.at; at < start; at++) if (reader.bytes[at] !== 0) throw new RangeError("D-Bus padding that is not zero");
  reader.at = start + size;
  return start;
}

function read(reader: Reader, type: Type, depth: number): Value {
  if (depth > DEEPEST) throw new RangeError("D-Bus value nested too deep");
  const { view, littleEndian } = reader;
  switch (type.code) {
    case "y":
      return view.getUint8(take(reader, 1, 1));
    case "n":
      return view.getInt16(take(reader, 2, 2), littleEndian);
    case "q":
      return view.getUint16(take(reader, 2, 2), littleEndian);
    case "i":
      return view.getInt32(take(reader, 4, 4), littleEndian);
    case "u":
      return view.getUint32(take(reader, 4, 4), littleEndian);
    case "x":
      return view.getBigInt64(take(reader, 8, 8), littleEndian);
    case "t":
      return view.getBigUint64(take(reader, 8, 8), littleEndian);
    case "d":
      return view.getFloat64(take(reader, 8, 8), littleEndian);
    case "b":
      return readBoolean(reader);
    case "s":
      return readText(reader, view.getUint32(take(reader, 4, 4), littleEndian));
    case "o":
      return readPath(reader);
    case "g":
      return readSignature(reader);
    case "v": {
      const signature = readSignature(reader);
      return { signature, value: read(reader, parseType(signature), depth + 1) };
    }
    case "a":
      return readArray(reader, type.element, depth);
    case "(":
      return readFields(reader, type.fields, depth);
    case "{":
      return readFields(reader, [type.key, type.value], depth);
  }
}

function readBoolean(reader: Reader): boolean {
  const word = reader.view.getUint32(take(reader, 4, 4), reader.littleEndian);
  if (word > 1) throw new RangeError(`D-Bus boolean ${word}`);
  return word === 1;
}

function readText(reader: Reader, length: number): string {
  const start = take(reader, 1, length + 1);
  if (reader.bytes[start + length] !== 0) throw new RangeError("D-Bus text without its NUL");
  const text = decodeUtf8(reader.bytes.subarray(start, start + length));
  if (text.includes("\0")) throw new RangeError("D-Bus text with a NUL");
  return text;
}

function readPath(reader: Reader): string {
  const text = readText(reader, reader.view.getUint32(take(reader, 4, 4), reader.littleEndian));
  if (!isObjectPath(text)) throw new RangeError(`"${text}" is not a D-Bus object path`);
  return text;
}

function readSignature(reader: Reader): string {
  const text = readText(reader, reader.view.getUint8(take(reader, 1, 1)));
  parseSignature(text);
  return text;
}

function readArray(reader: Reader, element: Type, depth: number): Value {
  const length = reader.view.getUint32(take(reader, 4, 4), reader.littleEndian);
  if (length > ARRAY_LIMIT) throw new RangeError("D-Bus array of more than 64 MiB");
  const start = take(reader, alignmentOf(element.code), 0);
  const end = start + length;
  if (end > reader.bytes.length) throw new RangeError("D-Bus message cut short");
  if (element.code === "y") return reader.bytes.slice(take(reader, 1, length), end);
  const items: Value[] = [];
  while (reader.at < end) items.push(read(reader, element, depth + 1));
  if (reader.at !== end) throw new RangeError("D-Bus array that ends inside an element");
  return items;
}

function readFields(reader: Reader, fields: readonly Type[], depth: number): Value {
  take(reader, 8, 0);
  return fields.map((field) => read(reader, field, depth + 1));
}
