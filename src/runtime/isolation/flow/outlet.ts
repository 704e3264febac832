/** Bytes that go out through a descriptor as it takes them. */
import * as host from "../../host/index.ts";
import { WINDOW } from "../channel/index.ts";
import * as kernel from "../kernel.ts";
import type { Loop, Watched } from "./loop.ts";

/** A pipe that poll(2) calls writable takes so much without blocking (PIPE_BUF), also where others share the open file and O_NONBLOCK is not ours to set. */
const AT_ONCE = 4096;

export interface OutletOptions {
  /** So many bytes were written, or dropped because the reader has closed. */
  readonly gone?: (bytes: number) => void;
  /** The reader has closed. */
  readonly broken?: () => void;
  /** Something else reads from the descriptor and closes it. */
  readonly shared?: boolean;
  /** Most bytes of one write. */
  readonly atOnce?: number;
}

export class Outlet implements Watched {
  readonly fd: number;
  readonly #loop: Loop;
  readonly #options: OutletOptions;
  readonly #queue: Uint8Array[] = [];
  #waiting = 0;
  #ended = false;
  #closed = false;

  constructor(loop: Loop, fd: number, options: OutletOptions = {}) {
    this.fd = fd;
    this.#loop = loop;
    this.#options = options;
    loop.add(this);
  }

  /** Bytes that have not gone. */
  get waiting(): number {
    return this.#waiting;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#closed) {
      this.#options.gone?.(bytes.length);
      return;
    }
    this.#queue.push(bytes);
    this.#waiting += bytes.length;
  }

  /** Closes the descriptor once everything has gone. */
  end(): void {
    this.#ended = true;
    if (this.#queue.length === 0) this.#close();
  }

  wants(): number {
    return this.#queue.length > 0 ? host.POLL.OUT : 0;
  }

  ready(): void {
    const first = this.#queue[0];
    if (first === undefined) return;
    let written: number;
    try {
      written = kernel.writeSome(
        this.fd,
        first.buffer as ArrayBuffer,
        first.byteOffset,
        Math.min(first.length, this.#options.atOnce ?? AT_ONCE),
      );
    } catch (error) {
      if (!(error instanceof Error && "errno" in error)) throw error;
      this.#drop();
      return;
    }
    if (written === first.length) this.#queue.shift();
    else if (written > 0) this.#queue[0] = first.subarray(written);
    this.#waiting -= written;
    if (written > 0) this.#options.gone?.(written);
    if (this.#ended && this.#queue.length === 0) this.#close();
  }

  #drop(): void {
    const lost = this.#waiting;
    this.#queue.length = 0;
    this.#waiting = 0;
    this.#close();
    if (lost > 0) this.#options.gone?.(lost);
    this.#options.broken?.();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#loop.remove(this);
    if (!this.#options.shared) host.close(this.fd);
  }
}

/** What is worth a frame of credit while more is waiting. */
const BATCH = WINDOW / 4;

/** An outlet that says what has gone in batches. `credit`: so many bytes may come again. */
export function creditedOutlet(loop: Loop, fd: number, credit: (bytes: number) => void): Outlet {
  let gone = 0;
  const outlet: Outlet = new Outlet(loop, fd, {
    gone(bytes) {
      gone += bytes;
      if (gone < BATCH && outlet.waiting > 0) return;
      const all = gone;
      gone = 0;
      credit(all);
    },
  });
  return outlet;
}
