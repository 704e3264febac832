/** A stream socket that does not block: a connection to the daemon, or one of a client of a forwarded port. */
import { close, connect, endSending, readSome, setNonBlocking, writeSome } from "runt:client";
import { ASK, askError, type End } from "./contract.ts";
import { forget, POLL, until } from "./loop.ts";

const PIECE = 64 * 1024;

export interface Patience {
  /** Without a byte; undefined: for ever. */
  readonly silenceMs: number | undefined;
  readonly end: End | undefined;
}

const FOR_EVER: Patience = { silenceMs: undefined, end: undefined };

export class Connection {
  readonly #fd: number;
  #isOpen = true;
  #isReset = false;
  /** What has come and was not taken. */
  #rest: Uint8Array | undefined;
  /** Fulfilled when all that was to be sent so far has gone. */
  #sent: Promise<void> = Promise.resolve();

  /** To a unix socket. @throws Error with the code of connect(2) */
  static to(path: string): Connection {
    // To the host module a name that begins so is an abstract one.
    return new Connection(connect(path.startsWith("@") ? `./${path}` : path));
  }

  /** @param fd a socket, which this one closes */
  constructor(fd: number) {
    this.#fd = fd;
    setNonBlocking(fd);
  }

  /** The other side does not take anything any more, either. */
  get isReset(): boolean {
    return this.#isReset;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request: returns when all was taken, or when the other side does not wait for all of it. @throws Error: `patience` is over */
  async ask(bytes: Uint8Array, patience: Patience): Promise<void> {
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

  /** Sends after all that is to be sent already. Returns when it has gone. One that is closed, by either side, takes everything: the end is seen by who receives. */
  send(bytes: Uint8Array): Promise<void> {
    this.#sent = this.#sent.then(() => this.#write(bytes));
    return this.#sent;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#isOpen) await until(this.#fd, POLL.out);
      if (!this.#isOpen) return;
      try {
        at += writeSome(this.#fd, bytes.buffer as ArrayBuffer, bytes.byteOffset + at, Math.min(PIECE, bytes.length - at));
      } catch {
        return;
      }
    }
  }

  /** Nothing more is sent; what comes may still be received. */
  endSending(): void {
    try {
      if (this.#isOpen) endSending(this.#fd);
    } catch {
      // The other side has gone.
    }
  }

  /** What comes next; undefined: nothing does. @throws Error: `patience` is over */
  async receive(patience: Patience = FOR_EVER): Promise<Uint8Array | undefined> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) return rest;
    for (;;) {
      if (!this.#isOpen) return undefined;
      const events = await this.#ready(POLL.in, patience);
      if (!this.#isOpen) return undefined;
      this.#isReset ||= (events & POLL.error) !== 0;
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
    if (!this.#isOpen) return;
    this.#isOpen = false;
    forget(this.#fd);
    close(this.#fd);
  }

  async #ready(events: number, { silenceMs, end }: Patience): Promise<number> {
    const found = await until(this.#fd, events, silenceMs, end);
    if (found !== 0) return found;
    throw end?.aborted ? askError(ASK.ended) : askError(ASK.silent, silenceMs);
  }
}
