/** Process groups of programs that were started with `detached`: the number of such a group is the pid of its program. */
import type { ChildProcess } from "node:child_process";
import { processStat } from "../process/procfs.ts";

/**
 * SIGKILL for the program and its children. While the program has not been waited for, or a process of its group is left, no other group gets the number. Later it may be
 * another program's: then a process has it as its pid.
 */
export function killGroup({ pid, exitCode, signalCode }: Pick<ChildProcess, "pid" | "exitCode" | "signalCode">): void {
  if (pid === undefined) return;
  const isWaitedFor = exitCode !== null || signalCode !== null;
  if (isWaitedFor && processStat(pid) !== undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // They have ended, or are another user's by now.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
