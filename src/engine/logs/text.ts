/** Converts records to text: the printed bytes, unchanged. */
import type { LogRecord } from "./record.ts";

export interface TextOptions {
  /** Whether each line starts with its time. */
  readonly hasTimes: boolean;
  /** Text in front of each line, before its time. */
  readonly prefix?: string;
}

/** Writes one output. It remembers which streams are in the middle of a line, so that each output needs its own. */
export class TextWriter {
  readonly #options: TextOptions;
  /** Streams whose last line has not ended. */
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
