/** How a record of a container's log begins: "TIME STREAM F|P BYTES" (docs/decisions/0038-log-pump.md). */

export interface RecordHead {
  /** RFC 3339 with nanoseconds in UTC, always 30 characters. */
  readonly time: string;
  /** runt: a message of the log itself, not output of the container. */
  readonly stream: "stdout" | "stderr" | "runt";
  /** Whether the line continues in the next record of the same stream. */
  readonly isPart: boolean;
  /** Length of the head in bytes. The output follows. */
  readonly length: number;
}

const TIME_LENGTH = 30;
/** Maximum length of TIME, a blank, STREAM, a blank, the tag and a blank. */
export const LONGEST_RECORD_HEAD = TIME_LENGTH + 10;
const HEAD = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) (stdout|stderr|runt) ([FP]) /;

/** @param text the first LONGEST_RECORD_HEAD bytes of a line as Latin-1. undefined: the line is no record */
export function recordHead(text: string): RecordHead | undefined {
  const [head, time, stream, tag] = HEAD.exec(text) ?? [];
  if (head === undefined) return undefined;
  return { time: time!, stream: stream as RecordHead["stream"], isPart: tag === "P", length: head.length };
}
