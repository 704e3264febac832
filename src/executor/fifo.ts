/** The caller's end of a FIFO as a stream. */
import { closeSync, readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { Readable, Writable } from "node:stream";

/** Bun 1.4: a Socket of a given descriptor reads nothing from a FIFO, and ends with EAGAIN when the FIFO that it writes into is full. */
const hasSockets = process.versions["bun"] === undefined;
const CHUNK = 65_536;
const LOOK_MS = 10;

/** Of a descriptor that does not block, which the stream closes. */
export function readerOf(fd: number): Readable {
  return hasSockets ? new Socket({ fd, readable: true, writable: false }) : new PolledReader(fd);
}

/** Of a descriptor that does not block, which the stream closes. */
export function writerOf(fd: number): Writable {
  return hasSockets ? new Socket({ fd, readable: false, writable: true }) : new PolledWriter(fd);
}

/** Looks every 10 ms. It has no end: a FIFO without a writer may get another one. */
export class PolledReader extends Readable {
  readonly #fd: number;
  #next: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  override _read(): void {
    // Not at once: a writer that never pauses would keep all timers of this process from running.
    this.#look(0);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#next);
    closeSync(this.#fd);
    done(error);
  }

  #look(afterMs: number): void {
    this.#next = setTimeout(() => {
      let chunk: Buffer | undefined;
      try {
        chunk = readNow(this.#fd);
      } catch (error) {
        return void this.destroy(error as Error);
      }
      if (chunk === undefined) this.#look(LOOK_MS);
      else this.push(chunk);
    }, afterMs);
  }
}

/** Tries again every 10 ms while the FIFO is full. */
export class PolledWriter extends Writable {
  readonly #fd: number;
  #next: NodeJS.Timeout | undefined;

  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error) => void): void {
    let at = 0;
    try {
      while (at < chunk.length) at += writeSync(this.#fd, chunk, at);
      done();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") done(error as Error);
      else this.#next = setTimeout(() => this._write(chunk.subarray(at), encoding, done), LOOK_MS);
    }
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#next);
    closeSync(this.#fd);
    done(error);
  }
}

/** Up to 64 KiB of what is in a FIFO. Returns undefined if it is empty, with or without a writer. @throws what readSync throws, except EAGAIN */
export function readNow(fd: number): Buffer | undefined {
  const chunk = Buffer.alloc(CHUNK);
  try {
    const size = readSync(fd, chunk, 0, CHUNK, null);
    return size === 0 ? undefined : chunk.subarray(0, size);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    return undefined;
  }
}
