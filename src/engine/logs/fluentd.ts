/** Messages of the forward protocol of Fluentd and Fluent Bit. Pure, but for random ids. Source: "Forward Protocol Specification v1" of Fluentd. */
import { createHash, timingSafeEqual } from "node:crypto";
import { packArray, packMap, packNumber, packString, type Unpacked, uint32 } from "./msgpack.ts";
import type { LogRecord } from "./record.ts";

export interface FluentdRecord {
  readonly record: LogRecord;
  /** Fields that come before the line. */
  readonly names: Readonly<Record<string, string>>;
  /** Fields that come behind it. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** Whether the time has nanoseconds: an extension of MessagePack that Fluentd 0.14 has brought. */
  readonly precise: boolean;
}

/** Seconds since 1970, with what is behind the point as nanoseconds. */
export function instantOf(time: string): { readonly seconds: number; readonly nanoseconds: number } {
  if (time === "") return { seconds: 0, nanoseconds: 0 };
  return { seconds: Math.floor(Date.parse(time) / 1000), nanoseconds: Number(time.slice(20, 29)) };
}

function timeAndRecord({ record: { time, stream, isPart, bytes }, names, fields = {}, precise }: FluentdRecord): [Buffer, Buffer] {
  const { seconds, nanoseconds } = instantOf(time);
  const when = precise ? Buffer.concat([Buffer.from([0xd7, 0x00]), uint32(seconds), uint32(nanoseconds)]) : packNumber(seconds);
  const texts = (all: Readonly<Record<string, string>>) => Object.entries(all).map(([key, value]) => [key, packString(value)] as const);
  const map = packMap([
    ...texts(names),
    ["source", packString(stream)],
    ["log", packString(bytes)],
    ...(isPart ? [["partial_message", packString("true")] as const] : []),
    ...texts(fields),
  ]);
  return [when, map];
}

/** One entry in the message mode. */
export function fluentdMessage(tag: string, entry: FluentdRecord): Buffer {
  return packArray([packString(tag), ...timeAndRecord(entry)]);
}

/** One entry of the forward mode. */
export function fluentdEntry(entry: FluentdRecord): Buffer {
  return packArray(timeAndRecord(entry));
}

/** Several entries in the forward mode. @param chunk its id, which the receiver acknowledges */
export function fluentdChunk(tag: string, entries: readonly Buffer[], chunk: string | undefined): Buffer {
  const option = [["size", packNumber(entries.length)] as const, ...(chunk === undefined ? [] : [["chunk", packString(chunk)] as const])];
  return packArray([packString(tag), packArray(entries), packMap(option)]);
}

/** The id of the chunk that an answer acknowledges; undefined: it is another message. */
export function ackedChunk(answer: Unpacked): string | undefined {
  const id = answer instanceof Map ? answer.get("ack") : undefined;
  return Buffer.isBuffer(id) ? id.toString() : undefined;
}

export interface Helo {
  readonly nonce: Buffer;
  /** Whether the receiver also asks for a user and a password. */
  readonly wantsUser: boolean;
}

/** undefined: it is another message. */
export function heloIn(answer: Unpacked): Helo | undefined {
  const [word, options] = Array.isArray(answer) ? (answer as readonly Unpacked[]) : [];
  if (!Buffer.isBuffer(word) || word.toString() !== "HELO" || !(options instanceof Map)) return undefined;
  const nonce: Unpacked | undefined = options.get("nonce");
  const auth: Unpacked | undefined = options.get("auth");
  return { nonce: Buffer.isBuffer(nonce) ? nonce : Buffer.alloc(0), wantsUser: Buffer.isBuffer(auth) && auth.length > 0 };
}

interface Handshake {
  readonly host: string;
  readonly salt: Buffer;
  readonly nonce: Buffer;
  readonly key: Buffer;
}

/** In hexadecimal digits. */
function digestOf({ host, salt, nonce, key }: Handshake): string {
  return createHash("sha512").update(salt).update(host).update(nonce).update(key).digest("hex");
}

/** The answer to HELO. @param handshake `host` is the name of this side */
export function ping(handshake: Handshake): Buffer {
  const { host, salt } = handshake;
  return packArray([
    packString("PING"),
    packString(host),
    packString(salt),
    packString(digestOf(handshake)),
    packString(""),
    packString(""),
  ]);
}

/** Why the receiver is not the one that has the key, or does not take this side; undefined: all is well. */
export function pongFault(answer: Unpacked, handshake: Omit<Handshake, "host">): string | undefined {
  const [word, isTaken, reason, host, digest] = Array.isArray(answer) ? (answer as readonly Unpacked[]) : [];
  if (!Buffer.isBuffer(word) || word.toString() !== "PONG") return "it does not answer with PONG";
  if (isTaken !== true) return `it refuses the shared key: ${Buffer.isBuffer(reason) ? reason.toString("utf8", 0, 200) : "no reason"}`;
  if (!Buffer.isBuffer(host) || !Buffer.isBuffer(digest)) return "it does not prove that it has the shared key";
  const expected = Buffer.from(digestOf({ ...handshake, host: host.toString("latin1") }));
  const isOwn = digest.length === expected.length && timingSafeEqual(digest, expected);
  return isOwn ? undefined : "it has another shared key";
}
