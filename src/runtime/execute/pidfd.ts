/**
 * A process by descriptor, and by its number where pidfds are refused: a sandbox that knows no newer calls. Whoever calls has checked by
 * the start time that the number is still the container's (destroy.ts).
 */
import * as host from "../host/index.ts";

/** How often to look whether a process has ended, where there is no pidfd. */
const PAUSE_MS = 5;

/** Stands for a descriptor where there can be none. */
export const REFUSED = -1;

/** @throws HostError, ESRCH when there is no such process */
export function pidfdOf(pid: number): number {
  try {
    return host.pidfdOpen(pid);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return REFUSED;
  }
}

/** @throws HostError, ESRCH when it has ended */
export function signalProcess(pidfd: number, pid: number, signal: number): void {
  if (pidfd === REFUSED) {
    host.kill(pid, signal);
    return;
  }
  try {
    host.pidfdSendSignal(pidfd, signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // A caller without the right to signal it gets the error here, too.
    host.kill(pid, signal);
  }
}

/** Wait for the end of a process, at most so long. `alive` is asked where there is no descriptor. */
export function awaitEnd(pidfd: number, alive: () => unknown, milliseconds: number): boolean {
  if (pidfd !== REFUSED) return host.poll([pidfd], [host.POLL.IN], milliseconds)[0] !== 0;
  const deadline = host.monotonic() + milliseconds;
  while (alive()) {
    if (host.monotonic() >= deadline) return false;
    host.sleep(PAUSE_MS);
  }
  return true;
}

export function closePidfd(pidfd: number): void {
  if (pidfd !== REFUSED) host.close(pidfd);
}

function isRefusal(error: unknown): boolean {
  return host.isErrno(error, "ENOSYS", "EPERM");
}
