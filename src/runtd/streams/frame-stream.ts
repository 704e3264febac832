/** The daemon's side of an upgraded connection. */
import type { Readable, Duplex as Socket, Writable } from "node:stream";
import { FRAME, type Frame, type FrameKind, FrameReader, frameOf } from "../../shared/frames/index.ts";

/** Milliseconds in which a client has to send its complete first frame. Otherwise a silent client would keep its slot for ever. */
const FIRST_FRAME_MS = 10_000;
/** Milliseconds in which a client has to close its side after everything was sent to it. */
const CLOSING_MS = 10_000;

export class FrameStream {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  /** Received frames that were not taken yet. While there are some, no further data is read. */
  #frames: Frame[] = [];
  #take: ((frame: Frame) => void) | undefined;
  #isReading = false;
  #pauses = 0;
  /** Sinks that are full, for which input of the client waits. */
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

  /**
   * The first frame. The client must send no further ones until `onFrame` is called. undefined: the client has disconnected.
   * @throws Error: no frame came in time
   */
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

  /** Delivers the client's frames from now on. If the data is malformed or `take` throws, the connection is destroyed. */
  onFrame(take: (frame: Frame) => void): void {
    this.#take = take;
    if (!this.#isReading) {
      this.#isReading = true;
      this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    }
    this.#deliver();
  }

  /** Returns false if the client reads too slowly. The frame is sent anyway. */
  send(kind: FrameKind, payload: Uint8Array | string = ""): boolean {
    if (this.#socket.destroyed || this.#socket.writableEnded) return true;
    return this.#socket.write(frameOf(kind, typeof payload === "string" ? Buffer.from(payload) : payload));
  }

  /** Sends a whole stream as frames, at the speed of the client. Nothing is buffered. Resolves at the end of the stream. */
  async sendAll(kind: FrameKind, source: Readable): Promise<void> {
    for await (const chunk of source) if (!this.send(kind, chunk as Buffer)) await this.#drained();
  }

  /** Sends bytes that are already available. Resolves when the client can take more. */
  async sendNow(kind: FrameKind, bytes: Uint8Array): Promise<void> {
    if (!this.send(kind, bytes)) await this.#drained();
  }

  /** Writes input of the client to a sink. If the sink is full, nothing more is read from the client until there is room. */
  writeTo(sink: Writable | null | undefined, payload: Uint8Array): void {
    if (!sink?.writable || sink.write(payload) || this.#full.has(sink)) return;
    this.#full.add(sink);
    const free = new Promise<void>((resolve) => sink.once("drain", resolve).once("close", resolve));
    this.pauseWhile(free.finally(() => this.#full.delete(sink)));
  }

  /** Delivers no frame until the promise has settled. */
  pauseWhile(busy: Promise<unknown>): void {
    this.#pauses++;
    const go = () => {
      this.#pauses--;
      this.#deliver();
    };
    busy.then(go, go);
  }

  /** Sends what is left and closes the connection. A client that does not close its side in time is disconnected. */
  end(): void {
    closeSocket(this.#socket);
  }

  /**
   * Sends an empty frame of output if input of the client waits: while it does, nothing is read, so that only writing shows that a client has gone away.
   */
  probe(): void {
    const isStalled = this.#pauses > 0 || this.#frames.length > 0;
    if (isStalled && this.#socket.writableLength === 0) this.send(FRAME.stdout);
  }

  /** Closes the connection at once. What was sent and not read is dropped. */
  cut(): void {
    this.#socket.destroy();
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

/** Ends the daemon's side. Further data of the client is dropped. A client that does not close its side in time is disconnected. */
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
