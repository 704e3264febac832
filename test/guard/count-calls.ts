/** The system calls of a verb in a trace of strace, without those whose number depends on time. Pure. */
import { parseTrace, type TracedCall } from "../support/strace.ts";

const PROGRAM = /^"\/bin\/(true|sleep)"$/;

/** poll, close, openat, read, read: a wait until cgroup.events changes. A container that is frozen at once needs none. */
const CALLS_OF_A_WAIT = 5;

/** Of all processes, each until it becomes the container's program. */
export function countCalls(trace: string): number {
  const finished = new Set<number>();
  const left = new Map<number, number>();
  let count = 0;
  for (const call of parseTrace(trace)) {
    const { pid, name, args, result } = call;
    // How often a process yields while it waits depends on time (native-bindings/shared/spin_wait.h).
    if (finished.has(pid) || name === "sched_yield") continue;
    if (waitsForEvents(call)) left.set(pid, CALLS_OF_A_WAIT);
    const uncounted = left.get(pid) ?? 0;
    if (uncounted > 0) {
      left.set(pid, uncounted - 1);
      continue;
    }
    count++;
    if (name === "execve" && result === 0 && PROGRAM.test(args[0] ?? "")) finished.add(pid);
  }
  return count;
}

const waitsForEvents = ({ name, text }: TracedCall) => name === "poll" && text.includes("POLLPRI");
