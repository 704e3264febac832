/** The daemon's side of an upgraded connection. */
import type { Readable, Duplex as Socket } from "node:stream";
import { type Frame, type FrameKind, FrameReader, frameOf } from "../../shared/frames/index.ts";

export class FrameStream {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
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

  /** Delivers the client's frames from now on. Malformed data destroys the connection. */
  onFrame(take: (frame: Frame) => void): void {
    this.#socket.on("data", (chunk: Buffer) => {
      try {
        for (const frame of this.#reader.push(chunk)) take(frame);
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
    });
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

  pauseWhile(resumed: Promise<unknown>): void {
    this.#socket.pause();
    void resumed.finally(() => this.#socket.resume());
  }

  end(): void {
    this.#socket.end();
  }

  #drained(): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => this.#socket.once("drain", resolve)), this.gone]);
  }
}
