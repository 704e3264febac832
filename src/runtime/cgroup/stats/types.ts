/**
 * What a container uses: the `data` of a `stats` event, with runc's names and units. Counters are exact; times are nanoseconds,
 * sizes bytes. A file that the kernel does not have counts as zero. Fields are only ever added.
 */

export interface Stats {
  readonly cpu: CpuStats;
  /** v1 only; zeros on v2. */
  readonly cpuset: CpusetStats;
  readonly memory: MemoryStats;
  readonly pids: { readonly current: bigint /** 0: none. */; readonly limit: bigint };
  readonly blkio: BlockIOStats;
  /** By page size: "2MB". */
  readonly hugetlb: Readonly<Record<string, HugetlbStats>>;
}

export interface CpuStats {
  readonly usage: {
    readonly total: bigint;
    /** v1 only, one entry a CPU. */
    readonly percpu: readonly bigint[];
    readonly percpuKernel: readonly bigint[];
    readonly percpuUser: readonly bigint[];
    readonly kernel: bigint;
    readonly user: bigint;
  };
  readonly throttling: { readonly periods: bigint; readonly throttledPeriods: bigint; readonly throttledTime: bigint };
  readonly psi?: Pressure;
}

export interface CpusetStats {
  readonly cpus: readonly number[];
  readonly cpuExclusive: bigint;
  readonly mems: readonly number[];
  readonly memHardwall: bigint;
  readonly memExclusive: bigint;
  readonly memoryMigrate: bigint;
  readonly memorySpreadPage: bigint;
  readonly memorySpreadSlab: bigint;
  readonly memoryPressure: bigint;
  readonly schedLoadBalance: bigint;
  readonly schedRelaxDomainLevel: bigint;
}

export interface MemoryEntry {
  /** UNLIMITED: none (v2); v1 has the highest multiple of the page size. */
  readonly limit: bigint;
  readonly usage: bigint;
  /** The highest usage so far. */
  readonly max: bigint;
  readonly failcnt: bigint;
}

export interface MemoryStats {
  readonly cache: bigint;
  readonly usage: MemoryEntry;
  /** Memory and swap together, on v2 too. */
  readonly swap: MemoryEntry;
  readonly kernel: MemoryEntry;
  readonly kernelTCP: MemoryEntry;
  /** Every line of memory.stat. */
  readonly raw: Readonly<Record<string, bigint>>;
  readonly psi?: Pressure;
}

/** One line of a statistic: device, and what is counted ("Read", "Write", ...; "" where the file has no such column). */
export interface BlockIOEntry {
  readonly major: bigint;
  readonly minor: bigint;
  readonly op: string;
  readonly value: bigint;
}

export interface BlockIOStats {
  readonly ioServiceBytes: readonly BlockIOEntry[];
  readonly ioServiced: readonly BlockIOEntry[];
  readonly ioQueued: readonly BlockIOEntry[];
  readonly ioServiceTime: readonly BlockIOEntry[];
  readonly ioWaitTime: readonly BlockIOEntry[];
  readonly ioMerged: readonly BlockIOEntry[];
  readonly ioTime: readonly BlockIOEntry[];
  readonly sectors: readonly BlockIOEntry[];
  readonly psi?: Pressure;
}

export interface HugetlbStats {
  readonly usage: bigint;
  /** v1 only. */
  readonly max: bigint;
  readonly failcnt: bigint;
}

/** Shares of time in percent over 10, 60 and 300 seconds, and microseconds since the start. */
export interface PressureData {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly total: bigint;
}

/** Some, or all, of the tasks waited for the resource (Documentation/accounting/psi.rst). */
export interface Pressure {
  readonly some: PressureData;
  readonly full: PressureData;
}

/** How "max" is counted: the highest 64-bit number. */
export const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/** Content of a file of the cgroup; undefined when the kernel, or this cgroup, does not have it. */
export type ReadFile = (name: string) => string | undefined;
