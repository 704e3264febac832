/**
 * The header of a message. Source: D-Bus specification, "Message Format". Its type is always yyyyuua(yv), and of the few fields there are each has one
 * type: written and read at once it takes a tenth of the instructions that values of any signature take.
 */
import { decodeUtf8, writeAscii } from "../../../../shared/text/index.ts";
import { parseSignature } from "./signature.ts";
import { isObjectPath, type Variant } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

export interface Header {
  /** MESSAGE_TYPE. */
  readonly type: number;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly sender?: string;
  /** Of the body; absent when there is none. */
  readonly signature?: string;
}

type Field = Exclude<keyof Header, "type" | "serial">;

/** By its code. */
const FIELDS: readonly (Field | undefined)[] = [
  undefined,
  "path",
  "interface",
  "member",
  "errorName",
  "replySerial",
  "destination",
  "sender",
  "signature",
];
/** The type of each. */
const TYPES = "_osssussg";

/** Type, flags, version, length of the body, serial, length of the header fields. */
export const FIXED_SIZE = 16;
export const LITTLE = 0x6c;
export const BIG = 0x42;
export const VERSION = 1;

const SIGNATURE_TYPE = 0x67;
const INTEGER_TYPE = 0x75;
/** Of a field beside its text: padding, code, type, length, NUL. */
const FIELD_MOST = 16;

/** The header with its padding, and room for the body behind it. @throws RangeError for a field that is not of its type */
export function encodeHeader(header: Header, bodyLength: number): { readonly message: Uint8Array; readonly body: number } {
  let most = FIXED_SIZE + 8 + bodyLength;
  for (let code = 1; code < FIELDS.length; code++) {
    const value = header[FIELDS[code]!];
    if (value !== undefined) most += FIELD_MOST + (typeof value === "string" ? value.length : 0);
  }
  const bytes = new Uint8Array(most);
  const view = new DataView(bytes.buffer);
  let at = FIXED_SIZE;
  for (let code = 1; code < FIELDS.length; code++) {
    const value = header[FIELDS[code]!];
    if (value === undefined) continue;
    const type = TYPES.charCodeAt(code);
    at = aligned(at, 8);
    bytes[at] = code;
    bytes[at + 1] = 1;
    bytes[at + 2] = type;
    at += 4;
    if (typeof value === "number") {
      view.setUint32(at, value, true);
      at += 4;
    } else {
      checkText(TYPES[code]!, value);
      if (type === SIGNATURE_TYPE) bytes[at++] = value.length;
      else {
        view.setUint32(at, value.length, true);
        at += 4;
      }
      if (!writeAscii(value, bytes, at)) throw new RangeError(`D-Bus header field ${FIELDS[code]} that is not ASCII`);
      at += value.length + 1;
    }
  }
  bytes[0] = LITTLE;
  bytes[1] = header.type;
  bytes[3] = VERSION;
  view.setUint32(4, bodyLength, true);
  view.setUint32(8, header.serial, true);
  view.setUint32(12, at - FIXED_SIZE, true);
  const body = aligned(at, 8);
  return { message: bytes.subarray(0, body + bodyLength), body };
}

function checkText(type: string, text: string): void {
  if (type === "g") parseSignature(text);
  else if (type === "o" && !isObjectPath(text)) throw new RangeError(`"${text}" is not a D-Bus object path`);
  else if (text.includes("\0")) throw new RangeError("D-Bus text with a NUL");
}

/** `bytes`: the header without its last padding. @throws RangeError for what is malformed or cut short */
export function decodeHeader(bytes: Uint8Array, littleEndian: boolean): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const header: { -readonly [key in keyof Header]: Header[key] } = { type: bytes[1]!, serial: view.getUint32(8, littleEndian) };
  let at = FIXED_SIZE;
  while (at < bytes.length) {
    const start = aligned(at, 8);
    const code = bytes[start] ?? 0;
    const field = FIELDS[code];
    const type = TYPES.charCodeAt(code);
    // What is unknown or malformed is read, and refused, as any value is.
    if (field === undefined || bytes[start + 1] !== 1 || bytes[start + 2] !== type || bytes[start + 3] !== 0)
      return decodeAny(bytes, littleEndian);
    for (; at < start; at++) if (bytes[at] !== 0) throw new RangeError("D-Bus padding that is not zero");
    at = start + 4;
    const size = type === SIGNATURE_TYPE ? 1 : 4;
    if (at + size > bytes.length) throw new RangeError("D-Bus message cut short");
    const word = size === 1 ? bytes[at]! : view.getUint32(at, littleEndian);
    at += size;
    if (type === INTEGER_TYPE) header.replySerial = word;
    else {
      const end = at + word;
      if (end >= bytes.length) throw new RangeError("D-Bus message cut short");
      if (bytes[end] !== 0) throw new RangeError("D-Bus text without its NUL");
      const text = decodeUtf8(bytes.subarray(at, end));
      checkText(TYPES[code]!, text);
      header[field as Exclude<Field, "replySerial">] = text;
      at = end + 1;
    }
  }
  return header;
}

function decodeAny(bytes: Uint8Array, littleEndian: boolean): Header {
  const head = unmarshal("yyyyuua(yv)", bytes, littleEndian);
  const [, type, , , , serial, fields] = head as [number, number, number, number, number, number, readonly [number, Variant][]];
  const named: Record<string, unknown> = { type, serial };
  for (const [code, { signature, value }] of fields) {
    const field = FIELDS[code];
    if (field === undefined) continue;
    if (TYPES[code] !== signature) throw new RangeError(`D-Bus header field ${field} of type ${signature}`);
    named[field] = value;
  }
  return named as unknown as Header;
}

function aligned(at: number, alignment: number): number {
  return (at + alignment - 1) & -alignment;
}
