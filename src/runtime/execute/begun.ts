/** Whether init has become the program. Nothing else can tell once it has ended: a program, too, may end at once. */
import * as host from "../host/index.ts";
import { filterPath } from "../plan/index.ts";
import { refusesExecve } from "../seccomp/index.ts";
import type { StateRecord } from "../state/index.ts";

const PF_EXITING = 0x4;
const PF_FORKNOEXEC = 0x40;

export interface Life {
  /** Clock ticks since boot, decimal. */
  readonly startTime: string;
  readonly executed: boolean;
  /** It is about to end, or has ended and was not reaped yet. */
  readonly ending: boolean;
}

/** undefined: there is no such process any more. */
export function lifeOf(pid: number): Life | undefined {
  let text: string;
  try {
    text = host.readFile(`/proc/${pid}/stat`, undefined, true);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
  // proc_pid_stat(5), from the state on; the flags are those of include/linux/sched.h.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const flags = Number(fields[6]);
  return {
    startTime: fields[19] ?? "",
    executed: (flags & PF_FORKNOEXEC) === 0,
    ending: (flags & PF_EXITING) !== 0,
  };
}

/** Of any filter; the kernel takes 4096 instructions. */
const FILTER_LIMIT = 32_768;

/**
 * start under a filter: it may refuse init to become the program, to say so, and even to end. init has
 * let exec.fifo go and has reported nothing: did it end before the program began? Where it was reaped
 * already its filter answers: a program that ends at once must not be called one that never ran.
 */
export function neverBegan({ pid, startTime }: StateRecord, directory: string): boolean {
  const life = lifeOf(pid);
  if (life !== undefined && life.startTime === startTime) return life.ending && !life.executed;
  return refusesExecve(host.readBytes(filterPath(directory), FILTER_LIMIT), host.architecture);
}
