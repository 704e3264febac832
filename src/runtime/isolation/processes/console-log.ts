/**
 * What the guest's kernel prints on its console. Its end is kept in printable form, for people who look at a machine and for the reason why one has
 * ended. Nothing is ever written to the console.
 */
import * as host from "../../host/index.ts";
import { Inlet, type Loop } from "../flow/index.ts";

const READ_AT_ONCE = 4096;
/** Characters that are kept. */
const KEPT = 65_536;
/** Of the end that follows the reason of a machine's end: characters and lines. */
const [QUOTED, QUOTED_LINES] = [4000, 40];

export class ConsoleLog {
  readonly #inlet: Inlet;
  readonly #listeners = new Set<(text: string) => void>();
  #text: string;

  /** `before`: what another process has read of it. */
  constructor(loop: Loop, fd: number, before = "") {
    this.#text = before;
    this.#inlet = new Inlet(loop, fd, {
      room: () => READ_AT_ONCE,
      data: (bytes) => {
        const text = printableConsole(bytes);
        this.#text = (this.#text + text).slice(-KEPT);
        for (const listener of this.#listeners) listener(text);
      },
      end: () => {},
    });
  }

  /** The end of what was printed: ASCII, with newlines. */
  get text(): string {
    return this.#text;
  }

  /** What comes from now on. Returns what ends that. */
  listen(listener: (text: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Another process reads on. */
  stop(): void {
    this.#inlet.stop();
  }

  /** A reason, and below it the last lines of the console, if there are any. */
  after(reason: string): string {
    return withConsole(reason, this.#text);
  }
}

/** Exported for its test. */
export function withConsole(reason: string, text: string): string {
  const lines = text
    .slice(-QUOTED)
    .split("\n")
    .filter((line) => line !== "")
    .slice(-QUOTED_LINES);
  return [lines.length === 0 ? reason : `${reason}; the end of the guest's console:`, ...lines.map((line) => `  | ${line}`)].join("\n");
}

/** For a process that takes the reading over: not more than fits into one message. */
export function quoted(text: string): string {
  return text.slice(-QUOTED);
}

/** ASCII and newlines; every other byte but that of a carriage return as \xNN. Exported for its test. */
export function printableConsole(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    if (byte === 0x0d) return "";
    if (byte === 0x0a || (byte >= 0x20 && byte < 0x7f)) return String.fromCharCode(byte);
    return byte === 0x09 ? " " : `\\x${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

/** For frames: the text is ASCII. */
export function consoleBytes(text: string): Uint8Array {
  return new Uint8Array(host.utf8Encode(text));
}
