/** A connection with frames (docs/decisions/0055-forward-protocol.md). */
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { type Frame, type FrameKind, FrameReader, frameOf } from "../shared/frames/index.ts";
import type { Limit } from "./limit.ts";
import { ClientError, noDaemon, type Sockets } from "./protocol/index.ts";
import { BROKEN, type Question, upgrade } from "./transport.ts";

const PIECE = 64 * 1024;

export class FrameConnection {
  readonly #socket: Socket;
  readonly #limit: Limit;
  readonly #reader = new FrameReader();
  /** Streams whose readers have not taken what was received. */
  readonly #full = new Set<object>();
  #onFrame: (frame: Frame) => void = () => {};
  #onEnd: (error: Error) => void = () => {};
  readonly #lose = () => this.fail(new ClientError(BROKEN, "the daemon has gone away"));
  readonly #abort = () => this.fail(this.#limit.signal.reason);

  /** @throws ClientError; the reason of the limit's signal */
  static async open(sockets: Sockets, question: Question, limit: Limit): Promise<FrameConnection> {
    return new FrameConnection(await upgrade(sockets, question, limit), limit);
  }

  private constructor(socket: Socket, limit: Limit) {
    this.#socket = socket;
    this.#limit = limit;
    limit.signal.addEventListener("abort", this.#abort, { once: true });
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("end", this.#lose);
    socket.on("close", this.#lose);
  }

  /** Begins to receive. @param onEnd called once, with the reason for which the connection has ended without a last frame */
  receive(onFrame: (frame: Frame) => void, onEnd: (error: Error) => void): void {
    this.#onFrame = onFrame;
    this.#onEnd = onEnd;
    if (this.#limit.signal.aborted) this.#abort();
    else if (this.#socket.destroyed) this.#lose();
    else this.#socket.resume();
  }

  /** A connection that has ended drops it: its end is reported to its receiver. @param done called when it is sent or dropped */
  send(kind: FrameKind, payload: Uint8Array | string = "", done: () => void = () => {}): void {
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    for (let at = PIECE; at < bytes.length; at += PIECE) this.#socket.write(frameOf(kind, bytes.subarray(at - PIECE, at)));
    const last = bytes.length === 0 ? 0 : Math.floor((bytes.length - 1) / PIECE) * PIECE;
    this.#socket.write(frameOf(kind, bytes.subarray(last)), () => done());
  }

  /** Gives bytes to a stream. While its reader is behind, nothing more is received, until `taken` is called. */
  push(stream: Readable, bytes: Uint8Array): void {
    if (stream.destroyed || stream.push(bytes)) return;
    this.#full.add(stream);
    this.#socket.pause();
  }

  /** Closes the connection for this reason, unless it has ended already. */
  fail(error: Error): void {
    const onEnd = this.#onEnd;
    this.close();
    onEnd(error);
  }

  /** Closes the connection. Nothing more is reported. */
  close(): void {
    this.#onEnd = () => {};
    this.#onFrame = () => {};
    this.#limit.signal.removeEventListener("abort", this.#abort);
    this.#limit.over();
    this.#socket.destroy();
  }

  /** The reader of a stream goes on, or has left. */
  taken(stream: object): void {
    if (this.#full.delete(stream) && this.#full.size === 0) this.#socket.resume();
  }

  #take(chunk: Uint8Array): void {
    let frames: Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch (error) {
      this.fail(noDaemon(`it sends ${(error as Error).message}`));
      return;
    }
    for (const frame of frames) {
      try {
        this.#onFrame(frame);
      } catch (error) {
        // A listener of the caller has thrown. As with every stream of Node, its error is uncaught, and what follows is received all the same.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

/** Keeps an error of a stream without a listener from ending the process. The call itself reports the error, too. */
export function quiet<T extends Readable | Writable>(stream: T): T {
  stream.on("error", () => {});
  return stream;
}
