/** Finds where the last lines of a log begin. */
import { linesBackward } from "./lines.ts";
import { parseRecord } from "./record.ts";
import type { Segment } from "./segments.ts";

export interface Start {
  /** Index of the segment. */
  readonly segment: number;
  readonly offset: number;
}

/** The position of the last `count` lines of all streams together, including an unfinished line. `count` undefined: the beginning of the log. */
export function startOfLast(segments: readonly Segment[], count: number | undefined): Start {
  if (count === undefined) return { segment: 0, offset: 0 };
  let lines = 0;
  /** Streams of which a later record was seen, so that a part before it belongs to the same line. */
  const seen = new Set<string>();
  let start: Start | undefined;
  for (let segment = segments.length - 1; segment >= 0; segment--) {
    for (const { start: offset, line } of linesBackward(segments[segment]!.fd)) {
      const { stream, isPart } = parseRecord(line);
      const begins = !isPart || !seen.has(stream);
      seen.add(stream);
      if (begins && ++lines > count) return start ?? { segment, offset: Number.MAX_SAFE_INTEGER };
      start = { segment, offset };
    }
  }
  return start ?? { segment: Math.max(0, segments.length - 1), offset: 0 };
}
