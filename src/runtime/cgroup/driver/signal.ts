/** Signals to processes that are known by being listed somewhere. */
import * as host from "../../host/index.ts";

/** Descriptors at once, as far as there are so many: all are listed once more for each batch. */
const BATCH = 800;

/**
 * A number that has been listed may be somebody else's by the time it is used. So each process is held by a descriptor, and signalled by it only when
 * it is `still` listed after that. Where there are no descriptors (a sandbox) the number has to do.
 * @throws HostError of the first that refused it, when all the others have been signalled
 */
export function signalListed(pids: readonly number[], signal: number, still: () => ReadonlySet<number>): void {
  let failure: unknown;
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      if (!host.isErrno(error, "ESRCH")) failure ??= error;
    }
  };
  for (let next = 0; next < pids.length; ) {
    const held: Held[] = [];
    try {
      for (let isFull = false; !isFull && next < pids.length && held.length < BATCH; ) {
        const pid = pids[next]!;
        attempt(() => {
          const fd = pidfdOf(pid);
          isFull = fd === "full" && held.length > 0;
          if (!isFull) held.push({ pid, fd: fd === "full" ? undefined : fd });
        });
        if (!isFull) next++;
      }
      const listed = still();
      for (const one of held) if (listed.has(one.pid)) attempt(() => signalHeld(one, signal));
    } finally {
      for (const { fd } of held) if (fd !== undefined) host.close(fd);
    }
  }
  if (failure !== undefined) throw failure;
}

interface Held {
  readonly pid: number;
  readonly fd: number | undefined;
}

/** undefined: refused. Full: this process can have no more. */
function pidfdOf(pid: number): number | "full" | undefined {
  try {
    return host.pidfdOpen(pid);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    if (host.isErrno(error, "EMFILE", "ENFILE")) return "full";
    throw error;
  }
}

function signalHeld({ pid, fd }: Held, signal: number): void {
  try {
    if (fd !== undefined) {
      host.pidfdSendSignal(fd, signal);
      return;
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  host.kill(pid, signal);
}

function isRefusal(error: unknown): boolean {
  return host.isErrno(error, "ENOSYS", "EPERM");
}
