/** Parses records of a log as the pump writes them: "TIME STREAM F|P BYTES" (docs/decisions/0038-log-pump.md). */
import { LONGEST_RECORD_HEAD, recordHead } from "../../shared/records/index.ts";

export interface LogRecord {
  /**
   * RFC 3339 with nanoseconds in UTC, always 30 characters, so that the order of the texts is the order of the times. Empty: another program wrote the line,
   * and it is no record.
   */
  readonly time: string;
  /** runt: a message of the pump, not output of the container. */
  readonly stream: "stdout" | "stderr" | "runt";
  /** Whether the line continues in the next record of the same stream. */
  readonly isPart: boolean;
  /** The output, without its newline. */
  readonly bytes: Buffer;
  /** The position after this record (read.ts). Absent if the record is in no file. */
  readonly next?: string;
}

/** @param line without its newline. A line that is no record was written by another program, and is returned as an unreadable one. */
export function parseRecord(line: Buffer): LogRecord {
  const head = recordHead(line.toString("latin1", 0, LONGEST_RECORD_HEAD));
  if (head === undefined) return note("", `unreadable: ${line.toString("utf8", 0, 200)}`);
  const { length, ...rest } = head;
  return { ...rest, bytes: line.subarray(length) };
}

export function note(time: string, text: string): LogRecord {
  return { time, stream: "runt", isPart: false, bytes: Buffer.from(text) };
}

/** Formats a wall clock time in milliseconds as the time of a record. */
export function recordTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, -1)}000000Z`;
}

/** Formats a record as the pump does. */
export function renderRecord({ time, stream, isPart, bytes }: LogRecord): Buffer {
  return Buffer.concat([Buffer.from(`${time} ${stream} ${isPart ? "P" : "F"} `), bytes, Buffer.from("\n")]);
}

/** How records become text: the printed bytes, unchanged. */
interface TextOptions {
  /** Whether each line starts with its time. */
  readonly hasTimes: boolean;
  /** Text in front of each line, before its time. */
  readonly prefix?: string;
}

/**
 * Converts records to text for one output. It remembers which streams are in the middle of a line, so that each output needs a writer of its own.
 */
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
