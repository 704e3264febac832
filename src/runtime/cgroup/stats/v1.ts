/** Statistics of cgroup v1 (Documentation/admin-guide/cgroup-v1), from the files of all hierarchies. */
import { parseBlkio, parseCpuModes, parseKeyed, parseList, parseNumber, parseNumbers } from "./parse.ts";
import {
  type BlockIOEntry,
  type BlockIOStats,
  type HugetlbStats,
  type MemoryEntry,
  type ReadFile,
  type Stats,
  UNLIMITED,
} from "./types.ts";

/** cpuacct.stat counts in ticks of USER_HZ, 100 a second on every architecture. */
const NANOSECONDS_PER_TICK = 10_000_000n;

export function statsV1(read: ReadFile, pageSizes: readonly string[]): Stats {
  const number = (file: string) => parseNumber(read(file));
  const pidsLimit = number("pids.max");
  const memory = parseKeyed(read("memory.stat"));
  return {
    cpu: cpuStats(read),
    cpuset: {
      cpus: parseList(read("cpuset.cpus")),
      cpuExclusive: number("cpuset.cpu_exclusive"),
      mems: parseList(read("cpuset.mems")),
      memHardwall: number("cpuset.mem_hardwall"),
      memExclusive: number("cpuset.mem_exclusive"),
      memoryMigrate: number("cpuset.memory_migrate"),
      memorySpreadPage: number("cpuset.memory_spread_page"),
      memorySpreadSlab: number("cpuset.memory_spread_slab"),
      memoryPressure: number("cpuset.memory_pressure"),
      schedLoadBalance: number("cpuset.sched_load_balance"),
      schedRelaxDomainLevel: number("cpuset.sched_relax_domain_level"),
    },
    memory: {
      cache: memory["cache"] ?? 0n,
      usage: memoryEntry(read, "memory"),
      swap: memoryEntry(read, "memory.memsw"),
      kernel: memoryEntry(read, "memory.kmem"),
      kernelTCP: memoryEntry(read, "memory.kmem.tcp"),
      raw: memory,
    },
    pids: { current: number("pids.current"), limit: pidsLimit === UNLIMITED ? 0n : pidsLimit },
    blkio: blockIOStats(read),
    hugetlb: Object.fromEntries(pageSizes.flatMap((size) => hugetlbStats(read, size))),
  };
}

function cpuStats(read: ReadFile): Stats["cpu"] {
  const ticks = parseKeyed(read("cpuacct.stat"));
  const modes = parseCpuModes(read("cpuacct.usage_all"));
  const throttling = parseKeyed(read("cpu.stat"));
  return {
    usage: {
      total: parseNumber(read("cpuacct.usage")),
      percpu: parseNumbers(read("cpuacct.usage_percpu")),
      percpuKernel: modes.kernel,
      percpuUser: modes.user,
      kernel: (ticks["system"] ?? 0n) * NANOSECONDS_PER_TICK,
      user: (ticks["user"] ?? 0n) * NANOSECONDS_PER_TICK,
    },
    throttling: {
      periods: throttling["nr_periods"] ?? 0n,
      throttledPeriods: throttling["nr_throttled"] ?? 0n,
      throttledTime: throttling["throttled_time"] ?? 0n,
    },
  };
}

function memoryEntry(read: ReadFile, name: string): MemoryEntry {
  const number = (file: string) => parseNumber(read(`${name}.${file}`));
  return {
    limit: number("limit_in_bytes"),
    usage: number("usage_in_bytes"),
    max: number("max_usage_in_bytes"),
    failcnt: number("failcnt"),
  };
}

type Statistic = Exclude<keyof BlockIOStats, "psi">;
type Files = readonly (readonly [Statistic, string])[];

const DETAILS: Files = [
  ["sectors", "sectors_recursive"],
  ["ioServiceTime", "io_service_time_recursive"],
  ["ioWaitTime", "io_wait_time_recursive"],
  ["ioMerged", "io_merged_recursive"],
  ["ioQueued", "io_queued_recursive"],
  ["ioTime", "time_recursive"],
  ["ioServiced", "io_serviced_recursive"],
  ["ioServiceBytes", "io_service_bytes_recursive"],
];
const COUNTS: Files = [
  ["ioServiced", "io_serviced_recursive"],
  ["ioServiceBytes", "io_service_bytes_recursive"],
];
const FLAT_COUNTS: Files = [
  ["ioServiced", "io_serviced"],
  ["ioServiceBytes", "io_service_bytes"],
];

/** Where the numbers may stand, best first: of BFQ (with and without its debugging), of CFQ, of the throttling layer. */
const SOURCES: readonly (readonly [string, Files])[] = [
  ["blkio.bfq", DETAILS],
  ["blkio.bfq", COUNTS],
  ["blkio", DETAILS],
  ["blkio.throttle", COUNTS],
  ["blkio.throttle", FLAT_COUNTS],
];

/** The first source whose first file has entries, as in runc; a source that is not in use has the files, but they are empty. */
function blockIOStats(read: ReadFile): BlockIOStats {
  const found: Record<Statistic, readonly BlockIOEntry[]> = {
    ioServiceBytes: [],
    ioServiced: [],
    ioQueued: [],
    ioServiceTime: [],
    ioWaitTime: [],
    ioMerged: [],
    ioTime: [],
    sectors: [],
  };
  for (const [prefix, files] of SOURCES) {
    for (const [index, [statistic, file]] of files.entries()) {
      const entries = parseBlkio(read(`${prefix}.${file}`) ?? "");
      if (entries.length === 0) {
        if (index === 0) break;
        return found;
      }
      found[statistic] = entries;
      if (index === files.length - 1) return found;
    }
  }
  return found;
}

/** Reservations where the kernel counts them (Linux 5.7), else use. */
function hugetlbStats(read: ReadFile, size: string): [string, HugetlbStats][] {
  const prefix = [`hugetlb.${size}.rsvd`, `hugetlb.${size}`].find((name) => read(`${name}.usage_in_bytes`) !== undefined);
  if (prefix === undefined) return [];
  const number = (file: string) => parseNumber(read(`${prefix}.${file}`));
  return [[size, { usage: number("usage_in_bytes"), max: number("max_usage_in_bytes"), failcnt: number("failcnt") }]];
}
