/** A stream socket that does not block: a connection to the daemon, or a connection of a client to a forwarded port. */
import { close, connect, endSending, readSome, setNonBlocking, writeSome } from "runt:client";
import { ASK, askError, type End } from "./contract.ts";
import { forget, POLL, until } from "./loop.ts";

const PIECE = 64 * 1024;

export interface Patience {
  /** Milliseconds to wait without a byte; undefined: no limit. */
  readonly silenceMs: number | undefined;
  readonly end: End | undefined;
}

const FOR_EVER: Patience = { silenceMs: undefined, end: undefined };

export class Connection {
  readonly #fd: number;
  #isOpen = true;
  #isReset = false;
  /** Bytes that were received and put back. */
  #rest: Uint8Array | undefined;
  /** Resolves when everything given to `send` so far is sent. */
  #sent: Promise<void> = Promise.resolve();

  /** Connects to a unix socket. @throws Error with the code of connect(2) */
  static to(path: string): Connection {
    // The host module would read a name that begins with "@" as an abstract one.
    return new Connection(connect(path.startsWith("@") ? `./${path}` : path));
  }

  /** @param fd a socket, which `close` closes */
  constructor(fd: number) {
    this.#fd = fd;
    setNonBlocking(fd);
  }

  /** Whether the connection was reset, so that the other side takes no further data, either. */
  get isReset(): boolean {
    return this.#isReset;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request. Returns when everything is sent, or when the other side answers before that. @throws Error: `patience` is over */
  async ask(bytes: Uint8Array, patience: Patience): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const events = await this.#ready(POLL.in | POLL.out, patience);
      if (events & POLL.in) return;
      try {
        at += writeSome(this.#fd, bytes.buffer as ArrayBuffer, bytes.byteOffset + at, Math.min(PIECE, bytes.length - at));
      } catch {
        // The other side has closed the connection. What it sent before can still be read.
        return;
      }
    }
  }

  /**
   * Sends bytes after those of earlier calls. Returns when they are sent. A connection that either side has closed discards them: the end is
   * noticed by the receiver.
   */
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

  /** Ends sending. Data can still be received. */
  endSending(): void {
    try {
      if (this.#isOpen) endSending(this.#fd);
    } catch {
      // The other side has disconnected.
    }
  }

  /** The next bytes; undefined: the connection has ended. @throws Error: `patience` is over */
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

  /** Puts bytes back, which the next `receive` returns. */
  giveBack(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#rest = bytes;
  }

  /** Whether bytes were put back that belong to no request. */
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
