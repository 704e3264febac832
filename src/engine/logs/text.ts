/** Converts records to text: the printed bytes, unchanged. */
import type { LogRecord } from "./record.ts";

export interface TextOptions {
  /** Each line begins with its time. */
  readonly hasTimes: boolean;
  /** And before that with this. */
  readonly prefix?: string;
}

/** Use one writer for each output: it remembers which streams are in the middle of a line. */
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
