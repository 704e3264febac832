/** The machine has broken before its container has started: the monitor-to-be is let go on, which tells the reason and ends the container. */
import * as host from "../../host/index.ts";

/** The first process of this pid namespace waits for `start` at this file, by a byte. */
const WAITS_AT = "/exec.fifo";
const START = "\0";

export function startMonitor(): void {
  const descriptors = "/proc/1/fd";
  const found = host.readdir(descriptors).find((name) => leadsTo(`${descriptors}/${name}`).endsWith(WAITS_AT));
  // It has been started just now.
  if (found === undefined) return;
  const fd = host.open(`${descriptors}/${found}`, host.O.WRONLY | host.O.NONBLOCK);
  host.write(fd, START);
  host.close(fd);
}

function leadsTo(path: string): string {
  try {
    return host.readlink(path);
  } catch (error) {
    // Just closed.
    if (host.isErrno(error, "ENOENT")) return "";
    throw error;
  }
}
