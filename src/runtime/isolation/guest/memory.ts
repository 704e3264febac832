/** Processes of a container that the guest's kernel kills for lack of memory, by what its cgroup counts (memory.events). */
import * as host from "../../host/index.ts";
import type { Loop, Watched } from "../flow/index.ts";
import { cgroupFile } from "./cgroup.ts";

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
