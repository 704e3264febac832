/** The machine has broken before its container has started: the monitor-to-be is let go on, which tells the reason and ends the container. */
import * as host from "../../host/index.ts";

/** The first process of this pid namespace waits for `start` at this file, by a byte. */
const WAITS_AT = "/exec.fifo";
const START = "\0";

export class StartFifo {
  /** undefined: `run` has none, and starts the container at once. */
  readonly #fd: number | undefined;

  /** Looks it up while this process has the right to look into another one. */
  constructor() {
    const descriptors = "/proc/1/fd";
    const found = host.readdir(descriptors).find((name) => leadsTo(`${descriptors}/${name}`).endsWith(WAITS_AT));
    this.#fd = found === undefined ? undefined : host.open(`${descriptors}/${found}`, host.O.PATH);
  }

  /** Nothing, if it has been started already. */
  startMonitor(): void {
    if (this.#fd === undefined) return;
    try {
      const fd = host.open(`/proc/self/fd/${this.#fd}`, host.O.WRONLY | host.O.NONBLOCK);
      host.write(fd, START);
      host.close(fd);
    } catch (error) {
      // Nobody has it open for reading any more (fifo(7)).
      if (!host.isErrno(error, "ENXIO", "EPIPE")) throw error;
    }
  }
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
