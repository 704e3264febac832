/**
 * What the guest's kernel kills for lack of memory nobody on the host sees, where engines watch the container's cgroup. So the kill is repeated there:
 * a process that is made for it takes what memory the cgroup has left, until the kernel kills it. No other process of the machine is killed: this one
 * asks to be the first. Whatever the guest says, it takes no memory that is not the container's: without a limit of that cgroup's own it does not begin.
 */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { JAIL } from "../places.ts";

const ROLE = "machine-victim";
const FIRST = "1000";
const MIB = 1024 ** 2;
/** Of a machine at its limit on the host less is left. Where swap takes it, or more is left, there is no kill. */
const MOST_MIB = 1024;
/** Thousandths of a MiB: less than half of what the limit has beside the machine (src/runtime/isolation/configurations/size.ts). */
const ADDED_MOST = 60_000;
/** Each takes a part of a second and up to a GiB of the container's: a guest that says nothing else keeps the host no busier than with so many a minute. */
const IN_A_ROW = 5;
const EVERY_MS = 60_000;

export interface RepetitionOptions {
  /** The cgroup of this process has a limit of memory. */
  readonly isLimited: boolean;
  /** Of the machine whose hypervisor is in the same cgroup. */
  readonly memoryMiB?: number;
}

export class Repetition {
  readonly #isLimited: boolean;
  readonly #memoryMiB: number | undefined;
  readonly #rate = new Rate(IN_A_ROW, EVERY_MS, host.monotonic());
  #pid: number | undefined;

  constructor({ isLimited, memoryMiB }: RepetitionOptions) {
    this.#isLimited = isLimited;
    this.#memoryMiB = memoryMiB;
  }

  get busy(): boolean {
    return this.#pid !== undefined;
  }

  /** Where it is under way it is not begun again. */
  begin(): void {
    if (!this.#isLimited || this.#pid !== undefined) return;
    if (!this.#rate.take(host.monotonic()) || (this.#memoryMiB !== undefined && isOutranked(this.#memoryMiB))) return;
    const nothing = host.open("/dev/null", host.O.RDWR);
    try {
      this.#pid = kernel.spawnCompanion(JAIL.runt, ["runt", ROLE], [], [nothing, nothing, nothing], []);
    } catch (error) {
      // The cgroup has as many processes as it may have: the container goes on, and nobody on the host hears of the kill.
      if (!host.isErrno(error, "EAGAIN", "ENOMEM")) throw error;
    } finally {
      host.close(nothing);
    }
  }

  /** A child of this process has ended. */
  ended(pid: number): void {
    if (pid === this.#pid) this.#pid = undefined;
  }
}

/** The process that is killed. */
export function victim(): never {
  host.writeFile("/proc/self/oom_score_adj", FIRST, host.O.WRONLY, 0);
  const taken: Uint8Array[] = [];
  for (let count = 0; count < MOST_MIB; count++) taken.push(new Uint8Array(MIB).fill(1));
  return host.exit(0);
}

/**
 * The kernel kills the process with the most pages, and oom_score_adj adds thousandths of the cgroup's limit to them. The hypervisor is the larger one,
 * by nearly the limit: it is safe as long as what an engine adds to it is less than what the limit has beside the machine. Those of runt are small.
 */
function isOutranked(memoryMiB: number): boolean {
  return host.readdir("/proc", true, "0123456789").some((pid) => {
    try {
      const read = (name: string): string => host.readFile(`/proc/${pid}/${name}`, undefined, true).trim();
      return read("comm") !== "runt" && Number(read("oom_score_adj")) * memoryMiB > ADDED_MOST;
    } catch (error) {
      // It has just ended.
      if (!host.isErrno(error, "ENOENT", "ESRCH")) throw error;
      return false;
    }
  });
}

/** How often something may be done: so many times in a row, and from then on once in so long. */
/** How often something may be done: so many times in a row, and from then on once in so long. */
export class Rate {
  readonly #inARow: number;
  readonly #everyMs: number;
  #left: number;
  #since: number;

  /** `now`: of any clock that goes on. */
  constructor(inARow: number, everyMs: number, now: number) {
    this.#inARow = inARow;
    this.#everyMs = everyMs;
    this.#left = inARow;
    this.#since = now;
  }

  /** False: not now. */
  take(now: number): boolean {
    const earned = Math.floor((now - this.#since) / this.#everyMs);
    this.#left = Math.min(this.#inARow, this.#left + earned);
    this.#since += earned * this.#everyMs;
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}
