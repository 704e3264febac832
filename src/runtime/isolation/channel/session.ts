/** What the guest may say, and when: the host's side of the channel. Pure: it takes frames and says what they mean. */
import { type Frame, ProtocolError, WINDOW } from "./frame.ts";
import { decodeCredit, type Failure, type Hello, parseFailure, parseHello } from "./messages.ts";

export type SessionEvent =
  | { readonly what: "hello"; readonly hello: Hello }
  | { readonly what: "created"; readonly stream: number }
  | { readonly what: "started"; readonly stream: number }
  /** A process of the container was killed for lack of memory. */
  | { readonly what: "oom"; readonly stream: number }
  | { readonly what: "output"; readonly stream: number; readonly channel: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** More may be sent to stdin. */
  | { readonly what: "credit"; readonly stream: number; readonly bytes: number }
  | { readonly what: "ended"; readonly stream: number; readonly status: number }
  | { readonly what: "failed"; readonly stream: number; readonly failure: Failure };

interface Stream {
  /** It is a container, which has to be made first. */
  awaited: boolean;
  started: boolean;
  /** stdin was closed. */
  closed: boolean;
  readonly stdin: Allowance;
  readonly stdout: Duty;
  readonly stderr: Duty;
}

/** Streams that are open at the same time. */
export const STREAMS_MOST = 512;

export class HostSession {
  readonly #decode: (bytes: Uint8Array) => string;
  readonly #streams = new Map<number, Stream>();
  #greeted: boolean;
  #next = 1;

  /** `decode`: UTF-8; it throws when the bytes are none. `greeted`: the guest has said hello to the process that had the channel before. */
  constructor(decode: (bytes: Uint8Array) => string, greeted = false) {
    this.#decode = decode;
    this.#greeted = greeted;
  }

  /** The guest has said hello. */
  get greeted(): boolean {
    return this.#greeted;
  }

  /** A new stream; undefined: there are too many. `awaited`: it is a container that has to be made first. */
  open(awaited = false): number | undefined {
    if (this.#streams.size >= STREAMS_MOST) return undefined;
    const stream = this.#next++;
    this.#streams.set(stream, { awaited, started: false, closed: false, stdin: new Allowance(), stdout: new Duty(), stderr: new Duty() });
    return stream;
  }

  isOpen(stream: number): boolean {
    return this.#streams.has(stream);
  }

  /** How many bytes may be sent to its stdin now; 0 when it is closed or the stream is. */
  stdinLeft(stream: number): number {
    const found = this.#streams.get(stream);
    return found === undefined || found.closed ? 0 : found.stdin.left;
  }

  spendStdin(stream: number, bytes: number): void {
    this.#streams.get(stream)?.stdin.spend(bytes);
  }

  closeStdin(stream: number): void {
    const found = this.#streams.get(stream);
    if (found) found.closed = true;
  }

  /** How much output has come that has not gone on. */
  held(stream: number, channel: "stdout" | "stderr"): number {
    return this.#streams.get(stream)?.[channel].held ?? 0;
  }

  /** Output has gone on: the guest gets credit for it. Nothing for a stream that has ended. @throws ProtocolError: for more than came */
  release(stream: number, channel: "stdout" | "stderr", bytes: number): void {
    this.#streams.get(stream)?.[channel].release(bytes);
  }

  /** @throws ProtocolError: the guest may not say this now */
  receive({ name, stream, payload }: Frame): SessionEvent {
    if (name === "hello") return this.#hello(stream, payload);
    const found = this.#streams.get(stream);
    if (!this.#greeted || found === undefined) throw new ProtocolError(`a frame ${name} of stream ${stream}, which is not open`);
    switch (name) {
      case "created":
        if (!found.awaited) throw new ProtocolError(`stream ${stream} is made, which was not to be`);
        found.awaited = false;
        return { what: "created", stream };
      case "started":
        if (found.awaited) throw new ProtocolError(`stream ${stream} has started before it was made`);
        if (found.started) throw new ProtocolError(`stream ${stream} has started twice`);
        found.started = true;
        return { what: "started", stream };
      case "oom":
        if (!found.started) throw new ProtocolError(`stream ${stream} has no memory before it started`);
        return { what: "oom", stream };
      case "stdout":
      case "stderr":
        found[name].arrive(payload.length);
        return { what: "output", stream, channel: name, bytes: payload };
      case "credit":
        return this.#credit(stream, found, payload);
      case "exit":
        if (!found.started) throw new ProtocolError(`stream ${stream} has ended before it started`);
        this.#streams.delete(stream);
        return { what: "ended", stream, status: payload[0]! };
      case "failed":
        if (found.started) throw new ProtocolError(`stream ${stream} has failed after it started`);
        this.#streams.delete(stream);
        return { what: "failed", stream, failure: parseFailure(this.#text(payload)) };
      default:
        throw new ProtocolError(`a frame ${name} from the guest`);
    }
  }

  #hello(stream: number, payload: Uint8Array): SessionEvent {
    if (this.#greeted || stream !== 0) throw new ProtocolError("a second hello");
    const hello = parseHello(this.#text(payload));
    this.#greeted = true;
    return { what: "hello", hello };
  }

  #credit(stream: number, { stdin }: Stream, payload: Uint8Array): SessionEvent {
    const { channel, bytes } = decodeCredit(payload);
    if (channel !== "stdin") throw new ProtocolError(`credit for ${channel} from the guest`);
    stdin.grant(bytes);
    return { what: "credit", stream, bytes };
  }

  #text(payload: Uint8Array): string {
    try {
      return this.#decode(payload);
    } catch {
      throw new ProtocolError("a text that is not UTF-8");
    }
  }
}

/** Credit of one channel of bytes, of the side that sends: how much may be sent. */
export class Allowance {
  #left = WINDOW;

  get left(): number {
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }

  /** @throws ProtocolError: more than was ever sent */
  grant(bytes: number): void {
    if (bytes === 0 || this.#left + bytes > WINDOW) throw new ProtocolError(`credit of ${bytes} bytes beside ${this.#left}`);
    this.#left += bytes;
  }
}

/** Of the side that receives. */
class Duty {
  #held = 0;

  /** @throws ProtocolError: more than there was credit for */
  arrive(bytes: number): void {
    if (this.#held + bytes > WINDOW) throw new ProtocolError(`${bytes} bytes beside ${this.#held} without credit`);
    this.#held += bytes;
  }

  /** So much credit is given back. @throws ProtocolError: for more than came */
  release(bytes: number): void {
    if (bytes === 0 || bytes > this.#held) throw new ProtocolError(`credit of ${bytes} bytes for ${this.#held}`);
    this.#held -= bytes;
  }

  /** Bytes that came, for which no credit was given back. */
  get held(): number {
    return this.#held;
  }
}
