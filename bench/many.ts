/** Many containers at once: how long they take together, what each costs, and which processes of the runtime stay. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { crowd, type Side } from "./side.ts";
import { type Comparison, compare, median, type Round } from "./stats.ts";

const WORKERS = 8;
const BATCH = 100;
export const CROWD = 500;
/** Size of the first and of the last part of the crowd, whose medians are compared. */
const NEIGHBOURS = 20;
/** So many containers are created at the end and never started. */
const CREATED = 20;

/** 100 containers started by 8 workers, in turns. */
export function startTogether(sides: readonly [Side, Side], rounds: number): Comparison {
  const times: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const total: Record<string, number> = {};
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const run = `${side.command("many")} run -d -b ${side.crowdBundle("plain", BATCH)} m-${side.letter}-@`;
      total[side.letter] = crowd(WORKERS, 0, BATCH, [run]).totalNs;
      crowd(WORKERS, 0, BATCH, [`${side.command("many")} delete --force m-${side.letter}-@`]);
    }
    times.push([total[sides[0].letter]!, 0, total[sides[1].letter]!, 0]);
  }
  return compare(times);
}

export interface Crowd {
  readonly runtime: string;
  /** Milliseconds of `create`: medians of the first and the last twenty. */
  readonly firstCreateMs: number;
  readonly lastCreateMs: number;
  /** Processes with the runtime's program, beside the containers' own, and their PSS: for each container that runs, and that is created. */
  readonly running: Resident;
  readonly created: Resident;
  /** Slab, kernel stacks, page tables and per-CPU memory for each running container. Most of it depends on the configuration. */
  readonly kernelKib: number;
}

interface Resident {
  readonly processes: number;
  readonly pssKib: number;
  /** Those outside of the container's own cgroups. */
  readonly outside: number;
}

/** 500 containers, each created and started when all before it run. */
export function crowdOf(side: Side): Crowd {
  const bundle = side.crowdBundle("plain", CROWD + CREATED);
  const command = side.command("crowd");
  const before = kernelKib();
  try {
    const create = `${command} create -b ${bundle} w-${side.letter}-@`;
    const { each } = crowd(1, 0, CROWD, [create, `${command} start w-${side.letter}-@`]);
    const creates = each.map(([time = Number.NaN]) => time / 1e6);
    const kernel = (kernelKib() - before) / CROWD;
    const running = resident(side, CROWD);
    crowd(1, CROWD, CREATED, [create]);
    return {
      runtime: side.name,
      firstCreateMs: median(creates.slice(0, NEIGHBOURS)),
      lastCreateMs: median(creates.slice(-NEIGHBOURS)),
      running,
      created: resident(side, CREATED),
      kernelKib: kernel,
    };
  } finally {
    side.deleteAll("crowd");
  }
}

/** Processes that execute the runtime's program, without those of containers, divided by `count`. */
function resident(side: Side, count: number): Resident {
  let processes = 0;
  let pss = 0;
  let outside = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const directory = `/proc/${pid}`;
      const within = readFileSync(`${directory}/cgroup`, "utf8").includes(`/${side.place.cgroup}/${side.letter}-plain-crowd-`);
      const about = readFileSync(`${directory}/cmdline`, "utf8").includes(side.root("crowd"));
      if (!within && !about) continue;
      if (within && readlinkSync(`${directory}/exe`).endsWith("/busybox")) continue;
      processes++;
      if (!within) outside++;
      pss += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`${directory}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // Ended meanwhile.
    }
  }
  return { processes: processes / count, pssKib: pss / count, outside: outside / count };
}

function kernelKib(): number {
  const text = readFileSync("/proc/meminfo", "utf8");
  return ["Slab", "KernelStack", "PageTables", "Percpu"]
    .map((name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0))
    .reduce((sum, value) => sum + value, 0);
}
