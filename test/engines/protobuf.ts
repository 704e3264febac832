/**
 * The part of protocol buffers (proto3) that the engines' APIs need. A message is described by data: names, numbers and types of the
 * fields that are used here; what else arrives is skipped.
 */

/** `int` is every varint of at most 64 bits, as a number: exact up to 2^53. */
export type FieldType = "string" | "bytes" | "int" | "bool" | "map" | MessageType | { readonly list: FieldType };

/** [number, type] by name. A `map` is map<string, string>. */
export type MessageType = { readonly [name: string]: readonly [number, FieldType] };

type ScalarValue<T> = T extends "string"
  ? string
  : T extends "bytes"
    ? Buffer
    : T extends "int"
      ? number
      : T extends "bool"
        ? boolean
        : T extends "map"
          ? Readonly<Record<string, string>>
          : never;

/** A message to send. Every field may be left out. */
export type Sent<M extends MessageType> = { readonly [K in keyof M]?: SentValue<M[K][1]> | undefined };
type SentValue<T> = T extends { readonly list: infer U } ? readonly SentValue<U>[] : T extends MessageType ? Sent<T> : ScalarValue<T>;

/** A received message. Its messages may be missing, all other fields have a value. */
export type Received<M extends MessageType> = { readonly [K in keyof M]: ReceivedValue<M[K][1]> };
type ReceivedValue<T> = T extends { readonly list: infer U }
  ? readonly Element<U>[]
  : T extends MessageType
    ? Received<T> | undefined
    : ScalarValue<T>;
type Element<T> = T extends MessageType ? Received<T> : ScalarValue<T>;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

export function encode<M extends MessageType>(type: M, message: Sent<M>): Buffer {
  const parts = Object.entries(type).map(([name, [number, field]]) => encodeField(number, field, message[name]));
  return Buffer.concat(parts);
}

function encodeField(number: number, type: FieldType, value: unknown): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (type === "int" || type === "bool") return Buffer.concat([varint((number << 3) | VARINT), varint(value as number | boolean)]);
  if (type === "string" || type === "bytes") return delimited(number, Buffer.from(value as string));
  if (type === "map") {
    const entries = Object.entries(value as Record<string, string>);
    return Buffer.concat(
      entries.map(([key, text]) => delimited(number, Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from(text))]))),
    );
  }
  if (isList(type)) return Buffer.concat((value as unknown[]).map((element) => encodeField(number, type.list, element)));
  return delimited(number, encode(type, value as Sent<MessageType>));
}

function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

/** Negative numbers take ten bytes, as two's complement of 64 bits. */
function varint(value: number | boolean): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

function isList(type: FieldType): type is { readonly list: FieldType } {
  return typeof type === "object" && "list" in type && !Array.isArray(type.list);
}

export function decode<M extends MessageType>(type: M, bytes: Buffer): Received<M> {
  const byNumber = new Map(Object.entries(type).map(([name, [number, field]]) => [number, { name, field }]));
  const message: Record<string, unknown> = Object.fromEntries(Object.entries(type).map(([name, [, field]]) => [name, absent(field)]));
  for (const { number, value } of fields(bytes)) {
    const known = byNumber.get(number);
    if (known === undefined) continue;
    const { name, field } = known;
    if (field === "map") {
      const entry = decode({ key: [1, "string"], value: [2, "string"] }, value as Buffer);
      (message[name] as Record<string, string>)[entry.key] = entry.value;
    } else if (isList(field)) (message[name] as unknown[]).push(decodeValue(field.list, value));
    else message[name] = decodeValue(field, value);
  }
  return message as Received<M>;
}

/** proto3 does not send default values. */
function absent(type: FieldType): unknown {
  if (type === "string") return "";
  if (type === "bytes") return Buffer.alloc(0);
  if (type === "int") return 0;
  if (type === "bool") return false;
  if (type === "map") return {};
  return isList(type) ? [] : undefined;
}

function decodeValue(type: FieldType, value: bigint | Buffer): unknown {
  if (type === "int") return Number(BigInt.asIntN(64, value as bigint));
  if (type === "bool") return value !== 0n;
  if (type === "string") return (value as Buffer).toString();
  if (type === "bytes") return value;
  return decode(type as MessageType, value as Buffer);
}

function* fields(bytes: Buffer): Generator<{ number: number; value: bigint | Buffer }> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("protocol buffer: cut off");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const wire = key & 7;
    if (wire === VARINT) {
      yield { number: key >>> 3, value: readVarint() };
      continue;
    }
    const length = wire === FIXED64 ? 8 : wire === FIXED32 ? 4 : wire === LENGTH_DELIMITED ? Number(readVarint()) : Number.NaN;
    if (!(at + length <= bytes.length)) throw new Error(`protocol buffer: cut off, or of the unknown wire type ${wire}`);
    yield { number: key >>> 3, value: bytes.subarray(at, at + length) };
    at += length;
  }
}
