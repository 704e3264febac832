/** Records of a log, as the pump writes them: "TIME STREAM F|P BYTES" (docs/decisions/0038-log-pump.md). */

export interface LogRecord {
  /** RFC 3339 with nanoseconds, UTC, always 30 characters: as text they are in the order of time. */
  readonly time: string;
  /** runt: what the pump has to say, no output. */
  readonly stream: "stdout" | "stderr" | "runt";
  /** The line goes on with the next record of the stream. */
  readonly isPart: boolean;
  /** Without the newline. */
  readonly bytes: Buffer;
  /** Where the log goes on behind it (place.ts); absent of what is in no file. */
  readonly next?: string;
}

const TIME_LENGTH = 30;
/** TIME, a blank, the longest name of a stream, a blank, the tag, a blank. */
const HEAD_LENGTH = TIME_LENGTH + 10;
const HEAD = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) (stdout|stderr|runt) ([FP]) /;

/** @param line without its newline. What is no record is told as it is: somebody else has written into the file. */
export function parseRecord(line: Buffer): LogRecord {
  const [head, time, stream, tag] = HEAD.exec(line.toString("latin1", 0, HEAD_LENGTH)) ?? [];
  if (head === undefined) return note("", `unreadable: ${line.toString("utf8", 0, 200)}`);
  return { time: time!, stream: stream as LogRecord["stream"], isPart: tag === "P", bytes: line.subarray(head.length) };
}

export function note(time: string, text: string): LogRecord {
  return { time, stream: "runt", isPart: false, bytes: Buffer.from(text) };
}

/** The time of a record of this moment. */
export function recordTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, -1)}000000Z`;
}

/** As the pump would have written it. */
export function renderRecord({ time, stream, isPart, bytes }: LogRecord): Buffer {
  return Buffer.concat([Buffer.from(`${time} ${stream} ${isPart ? "P" : "F"} `), bytes, Buffer.from("\n")]);
}
