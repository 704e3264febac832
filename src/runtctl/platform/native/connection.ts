/** A connection to a unix socket. */
import { close, connect, readSome, setNonBlocking, writeSome } from "runt:client";
import { ASK, askError, type End } from "../contract.ts";
import { POLL, until } from "./loop.ts";

const PIECE = 64 * 1024;

export interface Patience {
  /** Without a byte; undefined: for ever. */
  readonly silenceMs: number | undefined;
  readonly end: End | undefined;
}

export class Connection {
  readonly #fd: number;
  #isOpen = true;
  /** What has come and was not taken. */
  #rest: Uint8Array | undefined;

  /** @throws Error with the code of connect(2) */
  constructor(path: string) {
    // To the host module a name that begins so is an abstract one.
    this.#fd = connect(path.startsWith("@") ? `./${path}` : path);
    setNonBlocking(this.#fd);
  }

  /** Returns when all was taken, or when the other side does not wait for all of it. @throws Error: `patience` is over */
  async send(bytes: Uint8Array, patience: Patience): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const events = await this.#ready(POLL.in | POLL.out, patience);
      if (events & POLL.in) return;
      try {
        at += writeSome(this.#fd, bytes.buffer as ArrayBuffer, bytes.byteOffset + at, Math.min(PIECE, bytes.length - at));
      } catch {
        // It has closed: what it has said before is there to be read.
        return;
      }
    }
  }

  /** What comes next; undefined: nothing does. @throws Error: `patience` is over */
  async receive(patience: Patience): Promise<Uint8Array | undefined> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) return rest;
    for (;;) {
      await this.#ready(POLL.in, patience);
      const piece = readSome(this.#fd, PIECE);
      if (piece !== undefined) return piece.byteLength === 0 ? undefined : new Uint8Array(piece);
    }
  }

  /** Is received anew. */
  giveBack(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#rest = bytes;
  }

  /** Something has come that nobody has asked for. */
  get hasMore(): boolean {
    return this.#rest !== undefined;
  }

  close(): void {
    if (this.#isOpen) close(this.#fd);
    this.#isOpen = false;
  }

  async #ready(events: number, { silenceMs, end }: Patience): Promise<number> {
    const found = await until(this.#fd, events, silenceMs, end);
    if (found !== 0) return found;
    throw end?.aborted ? askError(ASK.ended) : askError(ASK.silent, silenceMs);
  }
}
