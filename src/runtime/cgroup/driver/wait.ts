/** Waiting for what the kernel tells about a cgroup. */
import * as host from "../../host/index.ts";

const POLLPRI = 2;

/**
 * v2: wait until cgroup.events has this line ("populated 0", "frozen 1"), at most so long. True once it has, or when the cgroup is
 * gone. The kernel wakes a poll(2) for changes since the file was read through the same descriptor, so each round reads first.
 */
export function waitForEvent(directory: string, line: string, milliseconds: number): boolean {
  const deadline = host.monotonic() + milliseconds;
  for (;;) {
    const events = open(`${directory}/cgroup.events`);
    if (events === undefined) return true;
    try {
      if (host.readFd(events).includes(line)) return true;
      const left = deadline - host.monotonic();
      if (left <= 0) return false;
      host.poll([events], [POLLPRI], left);
    } catch (error) {
      if (host.isErrno(error, "ENODEV")) return true;
      throw error;
    } finally {
      host.close(events);
    }
  }
}

function open(path: string): number | undefined {
  try {
    return host.open(path, host.O.RDONLY);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV")) return undefined;
    throw error;
  }
}
