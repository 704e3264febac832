/** Sends chunks to Fluentd or Fluent Bit, with their answers: acknowledgements, and the handshake of a shared key. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import { ackedChunk, fluentdChunk, heloIn, ping, pongFault } from "./fluentd.ts";
import { connectTo, type Sender, type SocketPlace, untilSent, written } from "./forward.ts";
import { type Unpacked, unpack } from "./msgpack.ts";

export interface FluentdOptions {
  /** May throw if there is no socket now. */
  readonly find: () => SocketPlace;
  readonly tag: string;
  /** Whether each chunk is acknowledged. */
  readonly ack: boolean;
  /** The key, which is read for each connection; absent: the receiver asks for none. @throws Error */
  readonly sharedKey?: ((signal: AbortSignal) => Promise<Buffer>) | undefined;
  /** Called when a receiver that can be reached does not keep the protocol. */
  readonly onFault: (message: string) => void;
  /** Milliseconds in which an answer comes. */
  readonly answerMs?: number;
}

const ANSWER_MS = 30_000;
const SALT_BYTES = 16;
const CHUNK_BYTES = 16;
/** In bytes: what a receiver may have sent that is no whole answer, or that was not asked for. */
const MOST_UNREAD = 4096;
/** The receiver does not keep the protocol. */
class Fault extends Error {}

/** The next chunk is sent when the one before has been acknowledged: one chunk at most is in memory. */
export class FluentdSender implements Sender {
  readonly #options: FluentdOptions;
  #link: Link | undefined;

  constructor(options: FluentdOptions) {
    this.#options = options;
  }

  /** @param messages entries of the forward mode */
  async send(messages: readonly Buffer[], signal: AbortSignal): Promise<void> {
    if (messages.length === 0) return;
    const { tag, ack, onFault } = this.#options;
    // A chunk that is sent again has the same id, so that a receiver can tell.
    const id = randomBytes(CHUNK_BYTES).toString("base64");
    const bytes = fluentdChunk(tag, messages, ack ? id : undefined);
    const attempt = async () => {
      try {
        this.#link ??= await this.#connected(signal);
        await this.#link.write(bytes, signal);
        // On one connection chunks are acknowledged one by one, so that each answer is about this one.
        if (ack && ackedChunk(await this.#link.answer(signal)) !== id)
          throw new Fault("it acknowledges another chunk than the one that was sent");
      } catch (error) {
        this.close();
        throw error;
      }
    };
    await untilSent(signal, attempt, (error) => {
      if (error instanceof Fault) onFault(error.message);
    });
  }

  close(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  async #connected(signal: AbortSignal): Promise<Link> {
    const { find, sharedKey, answerMs = ANSWER_MS } = this.#options;
    const place = find();
    let link: Link;
    try {
      link = new Link(await connectTo(place, signal), answerMs);
    } finally {
      if ("path" in place) place.close?.();
    }
    try {
      if (sharedKey !== undefined) await greet(link, await keyOf(sharedKey, signal), signal);
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }
}

/** @throws Fault: it cannot be read */
async function keyOf(sharedKey: (signal: AbortSignal) => Promise<Buffer>, signal: AbortSignal): Promise<Buffer> {
  try {
    return await sharedKey(signal);
  } catch (error) {
    throw new Fault(`the shared key cannot be read: ${(error as Error).message}`);
  }
}

/** Both sides prove that they have the key. @throws Fault */
async function greet(link: Link, key: Buffer, signal: AbortSignal): Promise<void> {
  const helo = heloIn(await link.answer(signal));
  if (helo === undefined) throw new Fault("it does not begin with HELO");
  if (helo.wantsUser) throw new Fault("it asks for a user and a password, which is not supported");
  const handshake = { salt: Buffer.from(randomBytes(SALT_BYTES).toString("hex")), nonce: helo.nonce, key };
  // A receiver refuses its own name.
  await link.write(ping({ ...handshake, host: `${hostname()}/runtd` }), signal);
  const fault = pongFault(await link.answer(signal), handshake);
  if (fault !== undefined) throw new Fault(fault);
}

/** A connection whose answers are read. */
class Link {
  readonly #socket: Socket;
  readonly #answerMs: number;
  #unread = Buffer.alloc(0);
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, answerMs: number) {
    this.#socket = socket;
    this.#answerMs = answerMs;
    const fail = (error: Error) => {
      this.#failure ??= error;
      this.#wake?.();
    };
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("it has been closed")));
    socket.on("data", (bytes: Buffer) => {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      if (this.#unread.length > MOST_UNREAD) {
        this.#unread = Buffer.alloc(0);
        fail(new Fault("it sends more than the protocol has"));
        socket.destroy();
      }
      this.#wake?.();
    });
  }

  /** A receiver that does not read delays only its own log. @throws Error: the connection has ended, or breaks the protocol */
  async write(bytes: Buffer, signal: AbortSignal): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await written(this.#socket, bytes, signal);
  }

  /** The next value that the receiver sends. @throws Fault: none comes in time, or what comes is none; Error: the connection has ended */
  async answer(signal: AbortSignal): Promise<Unpacked> {
    const end = performance.now() + this.#answerMs;
    for (;;) {
      const found = this.#next();
      if (found !== undefined) return found.value;
      if (this.#failure !== undefined) throw this.#failure;
      signal.throwIfAborted();
      const left = end - performance.now();
      if (left <= 0) throw new Fault(`it has not answered within ${this.#answerMs / 1000} s`);
      await this.#change(left, signal);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #next(): ReturnType<typeof unpack> {
    try {
      const found = unpack(this.#unread);
      if (found !== undefined) this.#unread = this.#unread.subarray(found.length);
      return found;
    } catch (error) {
      throw new Fault(`it sends no answer of the protocol: ${(error as Error).message}`);
    }
  }

  #change(mostMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, mostMs);
      signal.addEventListener("abort", done);
      this.#wake = done;
    });
  }
}
