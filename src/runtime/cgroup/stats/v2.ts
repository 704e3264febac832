/** Statistics of cgroup v2 (Documentation/admin-guide/cgroup-v2), in the terms of v1. */
import { parseIoStat, parseKeyed, parseNumber, parsePressure } from "./parse.ts";
import { type HugetlbStats, type MemoryEntry, type MemoryStats, type Pressure, type ReadFile, type Stats, UNLIMITED } from "./types.ts";

const NANOSECONDS = 1000n;

const NO_CPUSET: Stats["cpuset"] = {
  cpus: [],
  cpuExclusive: 0n,
  mems: [],
  memHardwall: 0n,
  memExclusive: 0n,
  memoryMigrate: 0n,
  memorySpreadPage: 0n,
  memorySpreadSlab: 0n,
  memoryPressure: 0n,
  schedLoadBalance: 0n,
  schedRelaxDomainLevel: 0n,
};

export function statsV2(read: ReadFile, pageSizes: readonly string[]): Stats {
  return {
    cpu: cpuStats(read),
    cpuset: NO_CPUSET,
    memory: memoryStats(read),
    pids: pidsStats(read),
    blkio: {
      ioServiceBytes: parseIoStat(read("io.stat"), { rbytes: "Read", wbytes: "Write" }),
      ioServiced: parseIoStat(read("io.stat"), { rios: "Read", wios: "Write" }),
      ioQueued: [],
      ioServiceTime: [],
      ioWaitTime: [],
      ioMerged: [],
      ioTime: [],
      sectors: [],
      ...pressure(read, "io"),
    },
    hugetlb: Object.fromEntries(pageSizes.flatMap((size) => hugetlbStats(read, size))),
  };
}

/** The kernel may lack it, or have it switched off. */
function pressure(read: ReadFile, resource: string): { readonly psi?: Pressure } {
  const psi = parsePressure(read(`${resource}.pressure`));
  return psi === undefined ? {} : { psi };
}

/** cpu.stat is there without the controller too. */
function cpuStats(read: ReadFile): Stats["cpu"] {
  const stat = parseKeyed(read("cpu.stat"));
  const time = (key: string) => (stat[key] ?? 0n) * NANOSECONDS;
  return {
    usage: {
      total: time("usage_usec"),
      percpu: [],
      percpuKernel: [],
      percpuUser: [],
      kernel: time("system_usec"),
      user: time("user_usec"),
    },
    throttling: {
      periods: stat["nr_periods"] ?? 0n,
      throttledPeriods: stat["nr_throttled"] ?? 0n,
      throttledTime: time("throttled_usec"),
    },
    ...pressure(read, "cpu"),
  };
}

const NOTHING: MemoryEntry = { limit: 0n, usage: 0n, max: 0n, failcnt: 0n };

function memoryStats(read: ReadFile): MemoryStats {
  const raw = parseKeyed(read("memory.stat"));
  const usage = memoryEntry(read, "memory");
  const swap = memoryEntry(read, "memory.swap");
  return {
    cache: raw["file"] ?? 0n,
    usage,
    // v1 counts both together; the highest sum is not known.
    swap: {
      ...NOTHING,
      usage: swap.usage + usage.usage,
      limit: swap.limit === UNLIMITED || usage.limit === UNLIMITED ? UNLIMITED : swap.limit + usage.limit,
    },
    kernel: NOTHING,
    kernelTCP: NOTHING,
    raw,
    ...pressure(read, "memory"),
  };
}

function memoryEntry(read: ReadFile, name: string): MemoryEntry {
  const number = (file: string) => parseNumber(read(`${name}.${file}`));
  return { limit: number("max"), usage: number("current"), max: number("peak"), failcnt: 0n };
}

/** Without the controller the processes of this cgroup are counted. */
function pidsStats(read: ReadFile): Stats["pids"] {
  const current = read("pids.current");
  if (current === undefined) return { current: BigInt((read("cgroup.procs") ?? "").split("\n").filter(Boolean).length), limit: 0n };
  const limit = parseNumber(read("pids.max"));
  return { current: parseNumber(current), limit: limit === UNLIMITED ? 0n : limit };
}

/** Reservations where the kernel counts them (Linux 5.7), else use. */
function hugetlbStats(read: ReadFile, size: string): [string, HugetlbStats][] {
  const usage = read(`hugetlb.${size}.rsvd.current`) ?? read(`hugetlb.${size}.current`);
  if (usage === undefined) return [];
  const { max: failcnt = 0n } = parseKeyed(read(`hugetlb.${size}.events`));
  return [[size, { usage: parseNumber(usage), max: 0n, failcnt }]];
}
