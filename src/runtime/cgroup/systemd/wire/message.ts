/** Whole messages: a fixed header, header fields, and a body. Source: D-Bus specification, "Message Format". */
import { marshal } from "./marshal.ts";
import type { Value, Variant } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

export const MESSAGE_TYPE = { call: 1, reply: 2, error: 3, signal: 4 } as const;

/** Code and type of each header field. */
const FIELDS = {
  path: [1, "o"],
  interface: [2, "s"],
  member: [3, "s"],
  errorName: [4, "s"],
  replySerial: [5, "u"],
  destination: [6, "s"],
  sender: [7, "s"],
  signature: [8, "g"],
} as const;

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

export interface Message extends Header {
  readonly body: Uint8Array;
  readonly littleEndian: boolean;
}

/** Type, flags, version, length of the body, serial, length of the header fields. */
const FIXED_SIZE = 16;
const LITTLE = 0x6c;
const BIG = 0x42;
const VERSION = 1;
/** The specification allows 128 MiB; nothing that is asked for here comes near this. */
const LONGEST = 1 << 24;

export function encodeMessage(header: Header, values: readonly Value[] = []): Uint8Array {
  const body = header.signature === undefined ? new Uint8Array(0) : marshal(header.signature, values);
  const fields = Object.entries(FIELDS).flatMap(([name, [code, signature]]): Value[] => {
    const value = header[name as keyof typeof FIELDS];
    return value === undefined ? [] : [[code, { signature, value }]];
  });
  const head = marshal("yyyyuua(yv)", [LITTLE, header.type, 0, VERSION, body.length, header.serial, fields]);
  const start = padded(head.length);
  const message = new Uint8Array(start + body.length);
  message.set(head);
  message.set(body, start);
  return message;
}

/** Length of the message that starts here; undefined until 16 bytes of it are there. @throws RangeError */
export function messageLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < FIXED_SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const littleEndian = isLittle(bytes[0]);
  if (bytes[3] !== VERSION) throw new RangeError(`D-Bus protocol version ${bytes[3]}`);
  const length = padded(FIXED_SIZE + view.getUint32(12, littleEndian)) + view.getUint32(4, littleEndian);
  if (length > LONGEST) throw new RangeError(`D-Bus message of ${length} bytes`);
  return length;
}

/** Exactly one message; its body is parsed only when it is read. @throws RangeError */
export function decodeMessage(bytes: Uint8Array): Message {
  const littleEndian = isLittle(bytes[0]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const headLength = FIXED_SIZE + view.getUint32(12, littleEndian);
  const head = unmarshal("yyyyuua(yv)", bytes.subarray(0, headLength), littleEndian);
  const [, type, , , , serial, fields] = head as [number, number, number, number, number, number, readonly [number, Variant][]];
  const named: Record<string, Value> = {};
  for (const [code, { signature, value }] of fields) {
    const known = Object.entries(FIELDS).find(([, field]) => field[0] === code);
    if (known === undefined) continue;
    if (known[1][1] !== signature) throw new RangeError(`D-Bus header field ${known[0]} of type ${signature}`);
    named[known[0]] = value;
  }
  return { ...named, type, serial, littleEndian, body: bytes.subarray(padded(headLength)) };
}

/** @throws RangeError */
export function readBody({ signature = "", body, littleEndian }: Message): Value[] {
  return unmarshal(signature, body, littleEndian);
}

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

function isLittle(mark: number | undefined): boolean {
  if (mark !== LITTLE && mark !== BIG) throw new RangeError("not a D-Bus message");
  return mark === LITTLE;
}
