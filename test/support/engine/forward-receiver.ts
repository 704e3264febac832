/**
 * A receiver of Fluentd's forward protocol for tests, which takes nothing that the specification does not have, and can be made hostile. Its decoder of MessagePack is its own.
 * Source: "Forward Protocol Specification v1".
 */
import { createHash } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";

export interface ReceiverManners {
  /** It asks for the handshake of this key. */
  readonly key?: string;
  /** The key that it proves to have; absent: the same. */
  readonly provenKey?: string;
  /** It asks for a user, too. */
  readonly auth?: string;
  /** Absent: each chunk is acknowledged. */
  readonly answer?: (chunk: string, socket: Socket) => void;
  /** Called with each connection, before anything is read. Returns whether it is done with it. */
  readonly greet?: (socket: Socket, count: number) => boolean;
}

export interface Received {
  readonly tag: string;
  readonly time: unknown;
  readonly record: Readonly<Record<string, string>>;
}

type Value = null | boolean | number | string | Time | readonly Value[] | { readonly [key: string]: Value };

class Time {
  readonly seconds: number;
  readonly nanoseconds: number;

  constructor(bytes: Buffer) {
    this.seconds = bytes.readUInt32BE(0);
    this.nanoseconds = bytes.readUInt32BE(4);
  }
}

export class ForwardReceiver {
  readonly received: Received[] = [];
  /** Ids of chunks in the order in which they came. */
  readonly chunks: string[] = [];
  readonly faults: string[] = [];
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(manners: ReceiverManners = {}) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket)).on("error", () => {});
      const count = this.connections++;
      if (manners.greet?.(socket, count) === true) return;
      this.#serve(socket, manners);
    });
  }

  listen(place: { path: string } | { port: number; host: string }): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(place, () => {
        const address = this.#server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
  }

  lines(): string[] {
    return this.received.map(({ record }) => record["log"]!);
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(
    socket: Socket,
    { key, provenKey = key, auth = "", answer = (chunk) => socket.write(packed({ ack: chunk })) }: ReceiverManners,
  ): void {
    let bytes = Buffer.alloc(0);
    const nonce = "a nonce of the receiver";
    let isGreeted = key === undefined;
    if (!isGreeted) socket.write(packed(["HELO", { nonce, auth, keepalive: true }]));
    socket.on("data", (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      try {
        for (let read = valueIn(bytes, 0); read !== undefined; read = valueIn(bytes, 0)) {
          bytes = bytes.subarray(read.end);
          if (isGreeted) this.#take(read.value, (chunk) => answer(chunk, socket));
          else {
            isGreeted = true;
            socket.write(packed(pongTo(read.value, nonce, key!, provenKey!)));
          }
        }
      } catch (error) {
        this.faults.push((error as Error).message);
        socket.destroy();
      }
    });
  }

  #take(value: Value, ack: (chunk: string) => void): void {
    if (!Array.isArray(value) || typeof value[0] !== "string") throw new Error(`no event: ${JSON.stringify(value)}`);
    const [tag, second, third] = value as unknown as readonly [string, Value, Value];
    if (Array.isArray(second)) {
      const { size, chunk, ...rest } = third as { readonly [key: string]: Value };
      if (size !== second.length || Object.keys(rest).length > 0) throw new Error(`options ${JSON.stringify(third)}`);
      for (const entry of second as readonly Value[]) {
        if (!Array.isArray(entry) || entry.length !== 2) throw new Error("no entry");
        this.received.push({ tag, time: entry[0], record: entry[1] as Received["record"] });
      }
      if (chunk === undefined) return;
      if (typeof chunk !== "string" || Buffer.from(chunk, "base64").length !== 16) throw new Error("an id of a chunk has 128 bits");
      this.chunks.push(chunk);
      ack(chunk);
    } else this.received.push({ tag, time: second, record: third as Received["record"] });
  }
}

/** The answer to PING. */
function pongTo(value: Value, nonce: string, key: string, provenKey: string): Value {
  const [word, host, salt, digest, ...user] = value as readonly string[];
  if (word !== "PING" || user.length !== 2) throw new Error(`no PING: ${JSON.stringify(value)}`);
  const digestOf = (name: string, own: string) => createHash("sha512").update(`${salt}${name}${nonce}${own}`).digest("hex");
  if (digest !== digestOf(host!, key)) return ["PONG", false, "shared_key mismatch", "", ""];
  return ["PONG", true, "", "receiver", digestOf("receiver", provenKey)];
}

export function packed(value: Value): Buffer {
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([text.length < 32 ? Buffer.from([0xa0 | text.length]) : Buffer.from([0xd9, text.length]), text]);
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([0x90 | value.length]), ...(value as readonly Value[]).map(packed)]);
  const pairs = Object.entries(value as { readonly [key: string]: Value });
  return Buffer.concat([Buffer.from([0x80 | pairs.length]), ...pairs.flatMap(([name, one]) => [packed(name), packed(one)])]);
}

/** undefined: it is not whole yet. */
function valueIn(bytes: Buffer, at: number): { readonly value: Value; readonly end: number } | undefined {
  const head = bytes[at];
  if (head === undefined) return undefined;
  const number = (length: number) => (at + 1 + length <= bytes.length ? bytes.readUIntBE(at + 1, length) : undefined);
  const text = (from: number, length: number | undefined) =>
    length === undefined || from + length > bytes.length
      ? undefined
      : { value: bytes.toString("utf8", from, from + length), end: from + length };
  const list = (from: number, count: number | undefined) => {
    const values: Value[] = [];
    let end = from;
    for (let index = 0; index < (count ?? 0); index++) {
      const one = valueIn(bytes, end);
      if (one === undefined) return undefined;
      values.push(one.value);
      end = one.end;
    }
    return count === undefined ? undefined : { value: values, end };
  };
  const map = (from: number, count: number | undefined) => {
    const pairs = list(from, count === undefined ? undefined : count * 2);
    if (pairs === undefined) return undefined;
    const entries = Array.from({ length: count! }, (_, index) => [String(pairs.value[index * 2]), pairs.value[index * 2 + 1]!] as const);
    return { value: Object.fromEntries(entries), end: pairs.end };
  };
  if (head < 0x80) return { value: head, end: at + 1 };
  if (head < 0x90) return map(at + 1, head & 0x0f);
  if (head < 0xa0) return list(at + 1, head & 0x0f);
  if (head < 0xc0) return text(at + 1, head & 0x1f);
  if (head === 0xce) return number(4) === undefined ? undefined : { value: number(4)!, end: at + 5 };
  if (head === 0xd7 && bytes[at + 1] === 0)
    return at + 10 > bytes.length ? undefined : { value: new Time(bytes.subarray(at + 2)), end: at + 10 };
  if (head === 0xdb) return text(at + 5, number(4));
  if (head === 0xdd) return list(at + 5, number(4));
  if (head === 0xdf) return map(at + 5, number(4));
  throw new Error(`byte ${head.toString(16)}`);
}
