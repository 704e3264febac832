/** The daemon's side of an upgraded connection. */
import type { Readable, Duplex as Socket, Writable } from "node:stream";
import { type Frame, type FrameKind, FrameReader, frameOf } from "../../shared/frames/index.ts";

/** Milliseconds in which a client has to send its first frame, whole. A client that sends none would keep its place for ever. */
const FIRST_FRAME_MS = 10_000;
/** Milliseconds in which a client has to close its side after it has been sent everything. */
const CLOSING_MS = 10_000;

export class FrameStream {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  /** Frames that have come and that nobody has taken yet. While there are some, nothing more is read. */
  #frames: Frame[] = [];
  #take: ((frame: Frame) => void) | undefined;
  #isReading = false;
  #pauses = 0;
  /** What the client's input waits for. */
  readonly #full = new Set<Writable>();
  /** Resolves when the client has disconnected, for whatever reason. */
  readonly gone: Promise<void>;

  isGone = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.gone = new Promise<void>((resolve) => {
      socket
        .once("close", resolve)
        .once("end", resolve)
        .on("error", () => resolve());
    }).then(() => {
      this.isGone = true;
    });
  }

  /** The first frame, after which the client has to wait until `onFrame`. undefined: the client has gone. @throws Error: none has come in time */
  async first(withinMs = FIRST_FRAME_MS): Promise<Frame | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no first frame has come within ${withinMs / 1000} s`)), withinMs);
    });
    const frame = new Promise<Frame>((resolve) => {
      this.onFrame((one) => {
        this.#take = undefined;
        resolve(one);
      });
    });
    try {
      return (await Promise.race([frame, this.gone, late])) ?? undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Delivers the client's frames from now on. Malformed data, and a frame that `take` throws for, destroy the connection. */
  onFrame(take: (frame: Frame) => void): void {
    this.#take = take;
    if (!this.#isReading) {
      this.#isReading = true;
      this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    }
    this.#deliver();
  }

  /** Returns false if the client reads too slowly. */
  send(kind: FrameKind, payload: Uint8Array | string = ""): boolean {
    if (this.#socket.destroyed || this.#socket.writableEnded) return true;
    return this.#socket.write(frameOf(kind, typeof payload === "string" ? Buffer.from(payload) : payload));
  }

  /** Sends all of a stream as frames. A slow client slows down the source; nothing is buffered. Resolves at the end of the stream. */
  async sendAll(kind: FrameKind, source: Readable): Promise<void> {
    for await (const chunk of source) if (!this.send(kind, chunk as Buffer)) await this.#drained();
  }

  /** Sends bytes that are already available. Resolves when the client can take more. */
  async sendNow(kind: FrameKind, bytes: Uint8Array): Promise<void> {
    if (!this.send(kind, bytes)) await this.#drained();
  }

  /** Writes what the client has sent. Reads nothing more from the client until the sink can take more. */
  writeTo(sink: Writable | null | undefined, payload: Uint8Array): void {
    if (!sink?.writable || sink.write(payload) || this.#full.has(sink)) return;
    this.#full.add(sink);
    const free = new Promise<void>((resolve) => sink.once("drain", resolve).once("close", resolve));
    this.pauseWhile(free.finally(() => this.#full.delete(sink)));
  }

  /** Takes no frame until the promise has settled. */
  pauseWhile(busy: Promise<unknown>): void {
    this.#pauses++;
    const go = () => {
      this.#pauses--;
      this.#deliver();
    };
    busy.then(go, go);
  }

  /** Sends what is left, and closes the connection. A client that does not close its own side is not waited for. */
  end(): void {
    closeSocket(this.#socket);
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#frames.push(frame);
    } catch (error) {
      this.#refuse(error);
    }
    this.#deliver();
  }

  #deliver(): void {
    try {
      while (this.#take !== undefined && this.#pauses === 0 && this.#frames.length > 0) this.#take(this.#frames.shift()!);
    } catch (error) {
      this.#refuse(error);
    }
    if (this.#frames.length > 0 || this.#pauses > 0) this.#socket.pause();
    else this.#socket.resume();
  }

  #refuse(error: unknown): void {
    this.#frames = [];
    this.#socket.destroy(error as Error);
  }

  #drained(): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => this.#socket.once("drain", resolve)), this.gone]);
  }
}

/** Ends the daemon's side. What the client still sends is dropped. A client that has read everything, and does not close its own side, is cut off. */
export function closeSocket(socket: Socket, last?: string): void {
  if (socket.destroyed) return;
  socket.once("finish", () => {
    const timer = setTimeout(() => socket.destroy(), CLOSING_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  });
  if (last === undefined) socket.end();
  else socket.end(last);
  socket.removeAllListeners("data").on("data", () => {});
  socket.resume();
}
