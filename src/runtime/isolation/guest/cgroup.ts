/** A container's cgroup in the guest: its processes, and those that the kernel kills in it for lack of memory. */
import * as host from "../../host/index.ts";
import type { Loop, Watched } from "../flow/index.ts";

const MOUNT = "/sys/fs/cgroup";

const cgroupFile = (cgroup: string, name: string): string => `${MOUNT}${cgroup}/${name}`;

export function makeBelow(cgroup: string): void {
  host.mkdir(`${MOUNT}${cgroup}`, 0o755);
}

/** What its processes have left running keeps it until the container is deleted. */
export function removeBelow(cgroup: string): void {
  try {
    host.rmdir(`${MOUNT}${cgroup}`);
  } catch (error) {
    if (!host.isErrno(error, "EBUSY", "ENOENT")) throw error;
  }
}

/** Also those that have the pid namespace of another container, and do not end with the first one. */
export function killAll(cgroup: string): void {
  host.writeFile(cgroupFile(cgroup, "cgroup.kill"), "1", host.O.WRONLY, 0);
}

/** To all but these. */
export function signalAll(cgroup: string, number: number, isLeftOut: (pid: number) => boolean): void {
  for (const pid of processesBelow(`${MOUNT}${cgroup}`)) {
    if (isLeftOut(pid)) continue;
    try {
      host.kill(pid, number);
    } catch (error) {
      // It has just ended.
      if (!host.isErrno(error, "ESRCH")) throw error;
    }
  }
}

function processesBelow(directory: string): number[] {
  const own = host.readFile(`${directory}/cgroup.procs`, undefined, true).split("\n").filter(Boolean).map(Number);
  return [...own, ...host.readdir(directory, true).flatMap((name) => processesBelow(`${directory}/${name}`))];
}

const POLLPRI = 2;
const MOST = 1024;

/** `killed` is called when there are more than before. */
export class MemoryWatch {
  readonly #watched: Watched;
  readonly #loop: Loop;
  readonly #killed: () => void;
  #count = 0;
  #over = false;

  /** Of a cgroup that is the container's alone: what has been counted is news. */
  constructor(loop: Loop, cgroup: string, killed: () => void) {
    this.#loop = loop;
    this.#killed = killed;
    const fd = host.open(cgroupFile(cgroup, "memory.events"), host.O.RDONLY);
    this.#watched = { fd, wants: () => POLLPRI, ready: () => this.look() };
    loop.add(this.#watched);
    this.look();
  }

  /** Also without a word of the kernel's: at the container's end the two may come in any order. */
  look(): void {
    if (this.#over) return;
    const count = this.#read();
    if (count === undefined) this.end();
    else {
      if (count > this.#count) this.#killed();
      this.#count = count;
    }
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#loop.remove(this.#watched);
    host.close(this.#watched.fd);
  }

  /** undefined: the cgroup is gone. */
  #read(): number | undefined {
    try {
      const text = host.utf8Decode(host.pread(this.#watched.fd, 0, MOST));
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    } catch (error) {
      if (host.isErrno(error, "ENODEV")) return undefined;
      throw error;
    }
  }
}
