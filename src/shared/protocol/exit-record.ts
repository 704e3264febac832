/** The exit record of `runt create` and `runt run --detach` with --exit-record: the runtime begins it, the monitor ends it, the library reads it. */
/** Grows when a reader that does not know the change would misread the record. */
export const EXIT_RECORD_SCHEMA = 1;

/** created: made by create; whether it has been started since, `runt state` tells. abandoned: a supervisor gave the launch up before it began. ended: something of the container may still be there. */
export const EXIT_PHASE = {
  creating: "creating",
  created: "created",
  running: "running",
  ended: "ended",
  exited: "exited",
  abandoned: "abandoned",
} as const;

/** Below ROOT/ID while init waits for `runt start`. */
export const START_FIFO = "exec.fifo";

export interface ProcessId {
  readonly pid: number;
  readonly startTicks: string;
}

export interface ExitRecord {
  readonly schema: number;
  readonly id: string;
  readonly root: string;
  /** /proc/sys/kernel/random/boot_id: a process of another boot is gone. undefined: an older runt has written it. */
  readonly bootId?: string;
  readonly monitor: ProcessId;
  readonly phase: (typeof EXIT_PHASE)[keyof typeof EXIT_PHASE];
  readonly pid?: number;
  readonly startTicks?: string;
  readonly startedMs?: number;
  /** 128 + signal when a signal ended it; null: unknown. */
  readonly code?: number | null;
  readonly signal?: number | null;
  readonly oomKills?: number;
  readonly endedMs?: number;
}

/** What the monitor writes behind what the runtime has begun. */
export const EXIT_FIELD = {
  phase: "phase",
  code: "code",
  signal: "signal",
  oomKills: "oomKills",
  endedMs: "endedMs",
} as const satisfies { readonly [K in keyof ExitRecord]?: K };

/*
 * The log of the container's output (docs/decisions/0038-log-pump.md): the helper's pump writes it, the library reads it.
 */

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
