/**
 * netlink messages (netlink(7)): a header of 16 bytes, a fixed part, and attributes of type, length and value, padded to 4 bytes.
 * Numbers are in the byte order of the machine, which is little endian on both that runt is built for. Pure.
 */
export type Attribute = readonly [type: number, value: readonly number[]];

export const FLAG = { REQUEST: 0x1, ACK: 0x4, DUMP: 0x300, CREATE: 0x400, EXCL: 0x200 } as const;

const HEADER = 16;
const ATTRIBUTE_HEADER = 4;
/** NLA_F_NESTED and NLA_F_NET_BYTEORDER are no part of the type. */
const TYPE_MASK = 0x3fff;

export const u16 = (value: number): number[] => [value & 0xff, (value >>> 8) & 0xff];
export const u32 = (value: number): number[] => [...u16(value), ...u16(value >>> 16)];

const padding = (length: number): number[] => new Array<number>((4 - (length % 4)) % 4).fill(0);

/** A request, without its length and its sequence number. */
export function encodeMessage(type: number, flags: number, fixed: readonly number[], attributes: readonly Attribute[]): ArrayBuffer {
  const bytes = [...u32(0), ...u16(type), ...u16(flags | FLAG.REQUEST), ...u32(0), ...u32(0), ...fixed];
  for (const [attribute, value] of attributes) {
    bytes.push(...u16(ATTRIBUTE_HEADER + value.length), ...u16(attribute), ...value, ...padding(value.length));
  }
  return new Uint8Array(bytes).buffer;
}

/** A message of an answer. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** What follows its header. */
  readonly body: DataView;
}

/** @throws RangeError */
export function messagesOf(reply: ArrayBuffer): Message[] {
  const view = new DataView(reply);
  const messages: Message[] = [];
  for (let at = 0; at + HEADER <= view.byteLength; ) {
    const length = view.getUint32(at, true);
    if (length < HEADER || at + length > view.byteLength) throw new RangeError("a netlink message is longer than the answer");
    messages.push({
      type: view.getUint16(at + 4, true),
      flags: view.getUint16(at + 6, true),
      sequence: view.getUint32(at + 8, true),
      body: new DataView(reply, at + HEADER, length - HEADER),
    });
    at += length + padding(length).length;
  }
  return messages;
}

/** Fill in what only the sender knows. */
export function number(message: ArrayBuffer, sequence: number): void {
  const view = new DataView(message);
  view.setUint32(0, message.byteLength, true);
  view.setUint32(8, sequence, true);
}

/** The attributes that follow a fixed part of this size. */
export function attributesOf(body: DataView, fixed: number): Attribute[] {
  const attributes: Attribute[] = [];
  for (let at = fixed; at + ATTRIBUTE_HEADER <= body.byteLength; ) {
    const length = body.getUint16(at, true);
    if (length < ATTRIBUTE_HEADER || at + length > body.byteLength) throw new RangeError("a netlink attribute is longer than its message");
    const value = new Uint8Array(body.buffer, body.byteOffset + at + ATTRIBUTE_HEADER, length - ATTRIBUTE_HEADER);
    attributes.push([body.getUint16(at + 2, true) & TYPE_MASK, [...value]]);
    at += length + padding(length).length;
  }
  return attributes;
}

/** The value of the attribute of this type. */
export function attributeValue(attributes: readonly Attribute[], type: number): readonly number[] | undefined {
  return attributes.find(([candidate]) => candidate === type)?.[1];
}
