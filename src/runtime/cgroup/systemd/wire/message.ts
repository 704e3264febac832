/** Whole messages: a header, and a body. Source: D-Bus specification, "Message Format". */
import { BIG, decodeHeader, encodeHeader, FIXED_SIZE, type Header, LITTLE, VERSION } from "./header.ts";
import { marshal } from "./marshal.ts";
import type { Value } from "./types.ts";
import { unmarshal } from "./unmarshal.ts";

export type { Header } from "./header.ts";

export const MESSAGE_TYPE = { call: 1, reply: 2, error: 3, signal: 4 } as const;

export interface Message extends Header {
  readonly body: Uint8Array;
  readonly littleEndian: boolean;
}

/** The specification allows 128 MiB; nothing that is asked for here comes near this. */
const LONGEST = 1 << 24;

export function encodeMessage(header: Header, values: readonly Value[] = []): Uint8Array {
  if (header.signature === undefined) return encodeHeader(header, 0).message;
  const content = marshal(header.signature, values);
  const { message, body } = encodeHeader(header, content.length);
  message.set(content, body);
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
  const header = decodeHeader(bytes.subarray(0, headLength), littleEndian);
  return { ...header, littleEndian, body: bytes.subarray(padded(headLength)) };
}

/** @throws RangeError */
export function readBody({ signature = "", body, littleEndian }: Message): Value[] {
  return unmarshal(signature, body, littleEndian);
}

/** Not by bits: a peer may claim any length. */
function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

function isLittle(mark: number | undefined): boolean {
  if (mark !== LITTLE && mark !== BIG) throw new RangeError("not a D-Bus message");
  return mark === LITTLE;
}
