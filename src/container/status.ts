/** What a container is doing, derived from the kernel and the state directory, never stored. */
import { isFrozen } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import { containerDirectory, isLocked, type StateSummary } from "../state/index.ts";

export type Status = "creating" | "created" | "running" | "paused" | "stopped";

/** `locked`: by this verb itself, so create cannot be at work. */
export function deriveStatus(root: string, record: StateSummary, locked = false, directory = containerDirectory(root, record.id)): Status {
  if (record.phase === "creating") return !locked && isLocked(directory) ? "creating" : "stopped";
  if (!isAlive(record)) return "stopped";
  if (record.cgroup && isFrozen(record.cgroup)) return "paused";
  return host.access(fifoPath(directory), EXISTS) ? "created" : "running";
}

/** F_OK of access(2). */
const EXISTS = 0;
/** PID_MAX_LIMIT of the kernel (proc_sys_kernel(5), pid_max). */
const HIGHEST_PID = 1 << 22;

/** True while init is the process that was started, and neither dead nor a zombie. */
export function isAlive(record: StateSummary): boolean {
  return record.pid > 0 && record.pid <= HIGHEST_PID && host.isRunning(record.pid, record.startTime);
}
