/** The log of a container's output (docs/decisions/0038-log-pump.md): the helper's pump writes it, the library reads it. */

/** What FILE.log beside an exit record FILE says of the pump: JSON that is overwritten in place about once a second, and at the end. */
export interface LogCounts {
  /** The pump that has written this; its boot is the container's. */
  readonly pid: number;
  readonly startTicks: string;
  /** In the log: lines that have ended, and bytes as the container has printed them. */
  readonly lines: number;
  readonly bytes: number;
  /** Not in the log: there was no room, or something else had its name. */
  readonly droppedLines: number;
  readonly droppedBytes: number;
}

export const LOG_FIELD = {
  pid: "pid",
  startTicks: "startTicks",
  lines: "lines",
  bytes: "bytes",
  droppedLines: "droppedLines",
  droppedBytes: "droppedBytes",
} as const satisfies { readonly [K in keyof LogCounts]: K };

/** A smaller log could not hold two of the longest records. */
export const LOG_SIZE_MIN = 65_536;
export const LOG_FILES_MAX = 1000;
