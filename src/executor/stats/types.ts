/** What a container uses: one type for cgroup v1 and v2. A field that the host does not tell is absent, never zero, and not in `measured`. */
import type { ProcessUse } from "../process/table.ts";

export interface CpuPercent {
  /** Percent of one CPU: two busy CPUs are 200. */
  readonly user: number;
  readonly system: number;
  readonly total: number;
}

/** Shares of time in percent, and microseconds in all. */
export interface Pressure {
  readonly some: PressureLine;
  readonly full?: PressureLine;
}

export interface PressureLine {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalUs: number;
}

export interface CgroupStats {
  readonly cpu: {
    readonly usageUs?: number;
    readonly userUs?: number;
    readonly systemUs?: number;
    readonly periods?: number;
    readonly throttledPeriods?: number;
    readonly throttledUs?: number;
  };
  readonly memory: {
    /** Anonymous memory. */
    readonly rssBytes?: number;
    readonly cacheBytes?: number;
    readonly swapBytes?: number;
    /** All that is charged, and the highest so far. */
    readonly usageBytes?: number;
    readonly maxUsageBytes?: number;
    readonly kernelBytes?: number;
    readonly kernelMaxBytes?: number;
    /** Absent: no limit. */
    readonly limitBytes?: number;
    /** Processes that the kernel has killed for memory. */
    readonly oomKills?: number;
  };
  readonly pids: {
    readonly current?: number;
    /** Absent: no limit. */
    readonly limit?: number;
  };
  readonly io: {
    readonly readBytes?: number;
    readonly writeBytes?: number;
    readonly readOperations?: number;
    readonly writeOperations?: number;
  };
  readonly pressure: { readonly cpu?: Pressure; readonly memory?: Pressure; readonly io?: Pressure };
}

export interface Stats extends Omit<CgroupStats, "cpu"> {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly cgroupVersion: 1 | 2;
  /** Since the last call; at the first one, since the launch. */
  readonly cpu: CgroupStats["cpu"] & { readonly percent?: CpuPercent };
  readonly processes: readonly ProcessUse[];
  /** Names of the fields that this host tells: "cpu.usageUs". */
  readonly measured: readonly string[];
}

/** A file of the container's cgroup in the hierarchy of a controller (v2 has one); undefined when there is none. */
export type ReadFile = (controller: string, file: string) => string | undefined;
