/** Statistics of one container over time: percentages need the look before. */
import { type Cgroup, directoryOf, hierarchies, processesIn, readIfThere } from "../process/cgroups.ts";
import { ProcessTable } from "../process/table.ts";
import { measured } from "./parse.ts";
import type { CgroupStats, CpuPercent, Stats } from "./types.ts";
import { statsV1 } from "./v1.ts";
import { statsV2 } from "./v2.ts";

interface Sample {
  /** On a clock that nobody sets. */
  readonly clockMs: number;
  readonly cpu: CgroupStats["cpu"];
}

export class Meter {
  readonly #cgroup: Cgroup;
  readonly #table = new ProcessTable();
  #last: Sample;

  /** `ageMs`: how long the program runs; before it nothing was used. */
  constructor(cgroup: Cgroup, ageMs: number) {
    this.#cgroup = cgroup;
    this.#last = { clockMs: performance.now() - ageMs, cpu: { usageUs: 0, userUs: 0, systemUs: 0 } };
  }

  read(): Stats {
    const found = hierarchies();
    const read = (controller: string, file: string) => {
      const directory = directoryOf(this.#cgroup, controller, found);
      return directory === undefined ? undefined : readIfThere(`${directory}/${file}`);
    };
    const stats = this.#cgroup.version === 2 ? statsV2(read) : statsV1(read);
    const now = { clockMs: performance.now(), cpu: stats.cpu };
    const percent = cpuPercent(this.#last, now);
    this.#last = now;
    const all = { ...stats, cpu: { ...stats.cpu, ...(percent ? { percent } : {}) } };
    return {
      atMs: Date.now(),
      cgroupVersion: this.#cgroup.version,
      ...all,
      processes: this.#table.read(processesIn(this.#cgroup.paths)),
      measured: measured(all),
    };
  }
}

/** undefined when there is nothing to compare with, or no time between. */
export function cpuPercent(before: Sample, after: Sample): CpuPercent | undefined {
  const us = (after.clockMs - before.clockMs) * 1000;
  const share = (name: "usageUs" | "userUs" | "systemUs") => {
    const [from, to] = [before.cpu[name], after.cpu[name]];
    return from === undefined || to === undefined || us <= 0 ? undefined : (Math.max(0, to - from) / us) * 100;
  };
  const [total, user, system] = [share("usageUs"), share("userUs"), share("systemUs")];
  return total === undefined || user === undefined || system === undefined ? undefined : { user, system, total };
}
