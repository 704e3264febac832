/** What run is asked for, and what it hands to the monitor: known to run and to the exit record, which is loaded when it is asked for. */
import type { Execution } from "../execute/execution.ts";
import type { RuntimeOptions } from "../prepare/options.ts";

export interface RunOptions {
  /** Keep state and cgroup after a foreground container ended. */
  readonly keep: boolean;
  readonly subreaper: boolean;
  /** The file that says how a detached container ended. */
  readonly exitRecord?: string;
  /** Command line of `runt` that deletes a container, argv[0] first, without the id. */
  readonly deleteCommand: readonly string[];
  /** Called when the container is made. */
  readonly made?: (execution: Execution) => void;
}

/** What the monitor is told about an exit record (exit-record.ts). */
export interface MonitorRecord {
  readonly args: readonly string[];
  readonly fds: readonly number[];
}

/** Gives this process to the helper that watches over the container. */
export type BecomeMonitor = (
  options: RuntimeOptions,
  execution: Execution,
  request: Pick<RunOptions, "keep" | "deleteCommand">,
  exitRecord: MonitorRecord,
) => void;
