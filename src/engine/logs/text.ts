/** Records as people read them: what was printed, byte for byte. */
import type { LogRecord } from "./record.ts";

export interface TextOptions {
  /** Each line begins with its time. */
  readonly hasTimes: boolean;
  /** And before that with this. */
  readonly prefix?: string;
}

/** One for each stream of text: it remembers where a line goes on. */
export class TextWriter {
  readonly #options: TextOptions;
  /** Streams in the middle of a line. */
  readonly #unended = new Set<string>();

  constructor(options: TextOptions) {
    this.#options = options;
  }

  render({ time, stream, isPart, bytes }: LogRecord): Buffer {
    const begins = !this.#unended.has(stream);
    if (isPart) this.#unended.add(stream);
    else this.#unended.delete(stream);
    const head = begins
      ? `${this.#options.prefix ?? ""}${this.#options.hasTimes ? `${time} ` : ""}${stream === "runt" ? "[log] " : ""}`
      : "";
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from(isPart ? "" : "\n")]);
  }
}
