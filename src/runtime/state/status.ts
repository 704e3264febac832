/** What a container is doing, derived from the kernel and the state directory, never stored. */
import { type CgroupRef, isFrozen } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import type { StateSummary } from "./record.ts";
import { containerDirectory, isLocked } from "./store.ts";

export type Status = "creating" | "created" | "running" | "paused" | "stopped";

/** `locked`: by this verb itself, so create cannot be at work. `frozen`: says it of the container whose init is in this state of proc_pid_stat(5). */
export function deriveStatus(
  root: string,
  record: StateSummary,
  locked = false,
  directory = containerDirectory(root, record.id),
  frozen: (cgroup: CgroupRef, state: string) => boolean = isFrozen,
): Status {
  const status = deriveLife(root, record, locked, directory, frozen);
  if (status !== "alive") return status;
  return host.access(fifoPath(directory), EXISTS) ? "created" : "running";
}

/** The same for a verb to which it makes no difference whether the program has been started. */
export function deriveLife(
  root: string,
  record: StateSummary,
  locked = false,
  directory = containerDirectory(root, record.id),
  frozen: (cgroup: CgroupRef, state: string) => boolean = isFrozen,
): Exclude<Status, "created" | "running"> | "alive" {
  if (record.phase === "creating") return !locked && isLocked(directory) ? "creating" : "stopped";
  const state = initState(record);
  if (!state) return "stopped";
  return record.cgroup && frozen(record.cgroup, state) ? "paused" : "alive";
}

/** F_OK of access(2). */
const EXISTS = 0;

/** As host.runningState: state letter while init is the process that was started, and neither dead nor a zombie; undefined otherwise. */
export function initState({ pid, startTime }: StateSummary): string | undefined {
  return host.runningState(pid, startTime);
}
