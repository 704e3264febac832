/**
 * The wire form of protocol buffers, as far as criu's messages use it: varints and length-delimited values. Pure.
 * Source: the encoding page of the protocol buffers documentation.
 */
import { decodeUtf8, encodeUtf8, joinBytes } from "../../shared/text/index.ts";

/** A message to be: field number and value. undefined is left out; a list is a repeated field; an object a message of its own. */
export interface Message {
  readonly [field: number]: Value | readonly Value[] | undefined;
}
export type Value = number | boolean | string | Message;

/** A message that came: the values of each field, in order. */
export type Fields = ReadonlyMap<number, readonly (number | Uint8Array)[]>;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

export function encodeMessage(message: Message): Uint8Array {
  const bytes: number[] = [];
  for (const [field, value] of Object.entries(message)) {
    for (const one of Array.isArray(value) ? (value as readonly Value[]) : [value as Value | undefined]) {
      if (one !== undefined) putField(bytes, Number(field), one);
    }
  }
  return Uint8Array.from(bytes);
}

function putField(bytes: number[], field: number, value: Value): void {
  if (typeof value === "number" || typeof value === "boolean") {
    putVarint(bytes, field * 8 + VARINT);
    putVarint(bytes, Number(value));
    return;
  }
  const content = typeof value === "string" ? encodeUtf8(value) : encodeMessage(value);
  putVarint(bytes, field * 8 + LENGTH);
  putVarint(bytes, content.length);
  for (const byte of content) bytes.push(byte);
}

/** Seven bits a byte, the lowest first. No field that is sent is ever negative. */
function putVarint(bytes: number[], value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} cannot be sent to criu`);
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
}

/** @throws RangeError for bytes that are no message */
export function decodeMessage(bytes: Uint8Array): Fields {
  const fields = new Map<number, (number | Uint8Array)[]>();
  for (let at = 0; at < bytes.length; ) {
    const [key, start] = takeVarint(bytes, at);
    const [value, end] = takeValue(bytes, start, key % 8);
    const field = Math.floor(key / 8);
    fields.set(field, [...(fields.get(field) ?? []), value]);
    at = end;
  }
  return fields;
}

/** The message with fields written anew, in their places: `change` returns the new value, null to leave the field out, undefined to keep its bytes. */
export function changeMessage(
  bytes: Uint8Array,
  change: (field: number, value: number | Uint8Array) => Value | Uint8Array | null | undefined,
): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [key, start] = takeVarint(bytes, at);
    const [value, end] = takeValue(bytes, start, key % 8);
    const field = Math.floor(key / 8);
    const changed = change(field, value);
    if (changed instanceof Uint8Array) parts.push(lengthDelimited(field, changed));
    else if (changed !== null) parts.push(changed === undefined ? bytes.subarray(at, end) : encodeMessage({ [field]: changed }));
    at = end;
  }
  return joinBytes(parts);
}

function lengthDelimited(field: number, content: Uint8Array): Uint8Array {
  const head: number[] = [];
  putVarint(head, field * 8 + LENGTH);
  putVarint(head, content.length);
  return joinBytes([Uint8Array.from(head), content]);
}

function takeValue(bytes: Uint8Array, start: number, type: number): readonly [number | Uint8Array, number] {
  if (type === VARINT) return takeVarint(bytes, start);
  const [length, from] = type === LENGTH ? takeVarint(bytes, start) : [fixedLength(type), start];
  if (from + length > bytes.length) throw new RangeError("a field is longer than its message");
  return [bytes.subarray(from, from + length), from + length];
}

function fixedLength(type: number): number {
  if (type === FIXED64) return 8;
  if (type === FIXED32) return 4;
  throw new RangeError(`field of unknown type ${type}`);
}

/** A negative number comes as its 64-bit complement; only its lower 32 bits are exact then, and nobody needs more. */
function takeVarint(bytes: Uint8Array, start: number): readonly [number, number] {
  let value = 0;
  let factor = 1;
  for (let at = start; at < bytes.length && at < start + 10; at++, factor *= 0x80) {
    const byte = bytes[at]!;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return [value, at + 1];
  }
  throw new RangeError("a number without an end");
}

/** The last value of a field: what a repeated single field means. */
export function numberOf(fields: Fields, field: number): number | undefined {
  const value = fields.get(field)?.at(-1);
  return typeof value === "number" ? value : undefined;
}

export function textOf(fields: Fields, field: number): string | undefined {
  const value = fields.get(field)?.at(-1);
  return value instanceof Uint8Array ? decodeUtf8(value) : undefined;
}

export function messageOf(fields: Fields, field: number): Fields | undefined {
  const value = fields.get(field)?.at(-1);
  return value instanceof Uint8Array ? decodeMessage(value) : undefined;
}
