/** Statistics of one container over time: percentages need the look before. */
import { type Cgroup, directoryOf, hierarchies, processesIn, readIfThere } from "../process/cgroups.ts";
import { ProcessTable, TICKS_PER_SECOND } from "../process/table.ts";
import type { CgroupStats, CpuPercent, Pressure, PressureLine, ReadFile, Stats } from "./types.ts";

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

  /** @param hasProcesses whether to look at each process, which takes as long as there are many; otherwise `processes` is empty */
  async read(hasProcesses = true): Promise<Stats> {
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
    const atMs = Date.now();
    const processes = hasProcesses ? await this.#table.read(processesIn(this.#cgroup.paths)) : [];
    return { atMs, cgroupVersion: this.#cgroup.version, ...all, processes, measured: measured(all) };
  }
}

/** undefined when there is nothing to compare with, or no time between. */
function cpuPercent(before: Sample, after: Sample): CpuPercent | undefined {
  const us = (after.clockMs - before.clockMs) * 1000;
  const share = (name: "usageUs" | "userUs" | "systemUs") => {
    const [from, to] = [before.cpu[name], after.cpu[name]];
    return from === undefined || to === undefined || us <= 0 ? undefined : (Math.max(0, to - from) / us) * 100;
  };
  const [total, user, system] = [share("usageUs"), share("userUs"), share("systemUs")];
  return total === undefined || user === undefined || system === undefined ? undefined : { user, system, total };
}

/** cgroup v1 (Documentation/admin-guide/cgroup-v1). */
const US_PER_TICK = 1_000_000 / TICKS_PER_SECOND;
/** "No limit" is the highest number of bytes in whole pages. */
const UNLIMITED = 2 ** 60;

export function statsV1(read: ReadFile): CgroupStats {
  const cpu = keyed(read("cpu", "cpu.stat"));
  const times = keyed(read("cpuacct", "cpuacct.stat"));
  const memory = keyed(read("memory", "memory.stat"));
  const limit = single(read("memory", "memory.limit_in_bytes"));
  const bytes = read("blkio", "blkio.throttle.io_service_bytes_recursive") ?? read("blkio", "blkio.throttle.io_service_bytes");
  const operations = read("blkio", "blkio.throttle.io_serviced_recursive") ?? read("blkio", "blkio.throttle.io_serviced");
  return {
    cpu: present({
      usageUs: microseconds(single(read("cpuacct", "cpuacct.usage"))),
      userUs: scaled(times.get("user"), US_PER_TICK),
      systemUs: scaled(times.get("system"), US_PER_TICK),
      periods: cpu.get("nr_periods"),
      throttledPeriods: cpu.get("nr_throttled"),
      throttledUs: microseconds(cpu.get("throttled_time")),
    }),
    memory: present({
      rssBytes: memory.get("total_rss") ?? memory.get("rss"),
      cacheBytes: memory.get("total_cache") ?? memory.get("cache"),
      swapBytes: memory.get("total_swap") ?? memory.get("swap"),
      usageBytes: single(read("memory", "memory.usage_in_bytes")),
      maxUsageBytes: single(read("memory", "memory.max_usage_in_bytes")),
      kernelBytes: single(read("memory", "memory.kmem.usage_in_bytes")),
      kernelMaxBytes: single(read("memory", "memory.kmem.max_usage_in_bytes")),
      limitBytes: limit !== undefined && limit < UNLIMITED ? limit : undefined,
      oomKills: keyed(read("memory", "memory.oom_control")).get("oom_kill"),
    }),
    pids: present({ current: single(read("pids", "pids.current")), limit: single(read("pids", "pids.max")) }),
    io: present({
      readBytes: blkio(bytes, "Read"),
      writeBytes: blkio(bytes, "Write"),
      readOperations: blkio(operations, "Read"),
      writeOperations: blkio(operations, "Write"),
    }),
    pressure: {},
  };
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** Nanoseconds -> microseconds. */
function microseconds(nanoseconds: number | undefined): number | undefined {
  return nanoseconds === undefined ? undefined : Math.floor(nanoseconds / 1000);
}

/** cgroup v2 (Documentation/admin-guide/cgroup-v2.rst). */
export function statsV2(read: ReadFile): CgroupStats {
  const cpu = keyed(read("cpu", "cpu.stat"));
  const memory = keyed(read("memory", "memory.stat"));
  const io = read("io", "io.stat");
  return {
    cpu: present({
      usageUs: cpu.get("usage_usec"),
      userUs: cpu.get("user_usec"),
      systemUs: cpu.get("system_usec"),
      periods: cpu.get("nr_periods"),
      throttledPeriods: cpu.get("nr_throttled"),
      throttledUs: cpu.get("throttled_usec"),
    }),
    memory: present({
      rssBytes: memory.get("anon"),
      cacheBytes: memory.get("file"),
      swapBytes: single(read("memory", "memory.swap.current")),
      usageBytes: single(read("memory", "memory.current")),
      maxUsageBytes: single(read("memory", "memory.peak")),
      kernelBytes: memory.get("kernel"),
      limitBytes: single(read("memory", "memory.max")),
      oomKills: keyed(read("memory", "memory.events")).get("oom_kill"),
    }),
    pids: present({ current: single(read("pids", "pids.current")), limit: single(read("pids", "pids.max")) }),
    io: present({
      readBytes: ioStat(io, "rbytes"),
      writeBytes: ioStat(io, "wbytes"),
      readOperations: ioStat(io, "rios"),
      writeOperations: ioStat(io, "wios"),
    }),
    pressure: present({
      cpu: pressure(read("cpu", "cpu.pressure")),
      memory: pressure(read("memory", "memory.pressure")),
      io: pressure(read("io", "io.pressure")),
    }),
  };
}

/** The forms that cgroup files have. */

/** One number; undefined for no file, "max" and whatever is not a number. */
function single(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** Lines `name number`. */
function keyed(text: string | undefined): ReadonlyMap<string, number> {
  return new Map(
    (text ?? "").split("\n").flatMap((line): [string, number][] => {
      const found = /^(\S+) (\d+)$/.exec(line);
      return found ? [[found[1]!, Number(found[2])]] : [];
    }),
  );
}

/** Sum of the lines `MAJOR:MINOR OPERATION number`, v1. */
function blkio(text: string | undefined, operation: string): number | undefined {
  if (text === undefined) return undefined;
  let sum = 0;
  for (const line of text.split("\n")) {
    const [, name, value] = line.split(" ");
    if (name === operation) sum += Number(value);
  }
  return sum;
}

/** Sum over the devices of `key=number`, v2. */
function ioStat(text: string | undefined, key: string): number | undefined {
  if (text === undefined) return undefined;
  return [...text.matchAll(new RegExp(`\\b${key}=(\\d+)`, "g"))].reduce((sum, found) => sum + Number(found[1]), 0);
}

function pressure(text: string | undefined): Pressure | undefined {
  const some = pressureLine(text, "some");
  const full = pressureLine(text, "full");
  return some && { some, ...(full ? { full } : {}) };
}

function pressureLine(text: string | undefined, kind: string): PressureLine | undefined {
  const found = new RegExp(`^${kind} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`, "m").exec(text ?? "");
  if (!found) return undefined;
  return { avg10: Number(found[1]), avg60: Number(found[2]), avg300: Number(found[3]), totalUs: Number(found[4]) };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
function present<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** "cpu.usageUs" for every number there is. */
function measured(stats: object, prefix = ""): string[] {
  return Object.entries(stats).flatMap(([name, value]) =>
    typeof value === "object" && value !== null ? measured(value, `${prefix}${name}.`) : typeof value === "number" ? [prefix + name] : [],
  );
}
