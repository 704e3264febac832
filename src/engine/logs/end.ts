/** The last lines of a container's log. */
import { linesBackward } from "./lines.ts";
import { parseRecord } from "./record.ts";
import { closeSegments, openSegments } from "./segments.ts";

export interface EndLimits {
  /** Number of complete lines. An unfinished last line is returned in addition. */
  readonly lines: number;
  readonly bytes: number;
}

/**
 * The last lines of both streams, in the order in which they were printed. Empty: there are none, or there is no log.
 * @param path of a log that nobody writes any more
 */
export function endOfLog(path: string, { lines, bytes }: EndLimits): Buffer {
  const parts: Buffer[] = [];
  const segments = openSegments(path);
  let ends = 0;
  let size = 0;
  try {
    for (const { fd } of segments.toReversed()) {
      for (const { line } of linesBackward(fd)) {
        const { stream, isPart, bytes: printed } = parseRecord(line);
        if (stream === "runt") continue;
        if (!isPart && ++ends > lines) return lastBytes(parts, bytes);
        parts.push(isPart ? printed : Buffer.concat([printed, NEWLINE]));
        size += parts.at(-1)!.length;
        if (size >= bytes) return lastBytes(parts, bytes);
      }
    }
    return lastBytes(parts, bytes);
  } finally {
    closeSegments(segments);
  }
}

const NEWLINE = Buffer.from("\n");

/** @param parts in reverse order */
function lastBytes(parts: readonly Buffer[], most: number): Buffer {
  const whole = Buffer.concat(parts.toReversed());
  return whole.subarray(Math.max(0, whole.length - most));
}
