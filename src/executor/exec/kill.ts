/** The end of everything that one exec has started. */
import { RuntimeError } from "../errors.ts";
import { processesIn, type SubCgroup } from "../process/cgroups.ts";
import { killDescendants } from "../process/descendants.ts";
import type { Runtime } from "../runtime/client.ts";

export interface ExecProcesses {
  readonly runtime: Runtime;
  /** Of the container. */
  readonly id: string;
  readonly sub: SubCgroup | undefined;
  /** `runt exec`: a child of this process that it has not waited for. undefined: it has ended. */
  readonly pid: () => number | undefined;
}

/**
 * A signal to every process in the exec's cgroup that is the container's: `runt` decides that, by marks and pidfds (docs/cgroups.md). False: there is no
 * such cgroup, or the container has ended.
 */
export async function signalCgroup({ runtime, id, sub }: ExecProcesses, signal: string): Promise<boolean> {
  if (sub === undefined) return false;
  try {
    await runtime.kill(id, signal, { cgroup: sub.flag });
    return true;
  } catch (error) {
    if (error instanceof RuntimeError && (error.code === "cgroup" || error.code === "id-unknown")) return false;
    throw error;
  }
}

/** SIGKILL for all of it; its `runt`, which is no part of the container, ends with it. Returns the host pids that are left. */
export async function killExec(processes: ExecProcesses): Promise<readonly number[]> {
  const { sub } = processes;
  const isThere = () => sub !== undefined && processesIn([sub.directory]).length > 0;
  if (isThere()) await signalCgroup(processes, "SIGKILL");
  // Without a cgroup, or when it has not come that far, or is not the container's: what descends from it.
  const pid = processes.pid();
  if (pid !== undefined) killDescendants(pid);
  if (sub === undefined || (pid === undefined && !isThere()) || (await signalCgroup(processes, "SIGKILL"))) return [];
  return processesIn([sub.directory]);
}
