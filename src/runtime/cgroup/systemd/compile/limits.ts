/**
 * What runt writes to the files of a cgroup, as properties of its unit: systemd must know every limit that it manages itself, or it
 * would set it back when it is reloaded. Files that are not listed are runt's alone.
 */
import type { CgroupWrite } from "../../compile/steps.ts";
import { cpuBits } from "./cpu-set.ts";
import { lastOfEach, type Property, property } from "./property.ts";
import { cpuQuota } from "./quota.ts";
import type { Version } from "./version.ts";

export interface Limits {
  readonly properties: readonly Property[];
  /** The same writes with the values that systemd will have. */
  readonly writes: readonly CgroupWrite[];
}

/** CGROUP_LIMIT_MAX and USEC_INFINITY. */
const INFINITY = (1n << 64n) - 1n;
/** The systemd that brought a property, where it is younger than the oldest kernel runt works on. */
const SINCE = { cpuSets: 244, idle: 252, oomPolicy: 253 } as const;

type Convert = (value: string, systemd: Version) => Property | undefined;

const amount =
  (name: string): Convert =>
  (value) => {
    const limit = parseAmount(value);
    return limit === undefined ? undefined : property(name, "t", limit);
  };

const cpuSet =
  (name: string): Convert =>
  (value, systemd) => {
    const bits = systemd() >= SINCE.cpuSets ? cpuBits(value) : undefined;
    return bits && property(name, "ay", bits);
  };

const idle: Convert = (value, systemd) => (value.trim() === "1" && systemd() >= SINCE.idle ? property("CPUWeight", "t", 0n) : undefined);

/** Only when a unit is made: systemd refuses to change it later. */
const oomGroup: Convert = (value, systemd) =>
  systemd() >= SINCE.oomPolicy ? property("OOMPolicy", "s", value.trim() === "1" ? "kill" : "continue") : undefined;

const FILES_V1: Readonly<Record<string, Convert>> = {
  "memory.limit_in_bytes": amount("MemoryLimit"),
  "cpu.shares": amount("CPUShares"),
  "blkio.bfq.weight": amount("BlockIOWeight"),
  "pids.max": amount("TasksMax"),
  "cpuset.cpus": cpuSet("AllowedCPUs"),
  "cpuset.mems": cpuSet("AllowedMemoryNodes"),
};

const FILES_V2: Readonly<Record<string, Convert>> = {
  "memory.min": amount("MemoryMin"),
  "memory.low": amount("MemoryLow"),
  "memory.high": amount("MemoryHigh"),
  "memory.max": amount("MemoryMax"),
  "memory.swap.max": amount("MemorySwapMax"),
  "memory.oom.group": oomGroup,
  "cpu.weight": amount("CPUWeight"),
  "cpu.idle": idle,
  "pids.max": amount("TasksMax"),
  "cpuset.cpus": cpuSet("AllowedCPUs"),
  "cpuset.mems": cpuSet("AllowedMemoryNodes"),
};

/**
 * `current`: what a file of the container's cgroup has now, for the other half of a quota when only one is written; undefined for a
 * new cgroup.
 */
export function compileLimits(
  version: 1 | 2,
  writes: readonly CgroupWrite[],
  systemd: Version,
  current: (file: string) => string | undefined = () => undefined,
): Limits {
  const files = version === 1 ? FILES_V1 : FILES_V2;
  const simple = writes.flatMap(({ path, value }) => files[fileOf(path)]?.(value, systemd) ?? []);
  const quota = version === 1 ? quotaV1(writes, systemd, current) : quotaV2(writes, systemd, current);
  return { properties: lastOfEach([...simple, ...quota.properties]), writes: quota.writes };
}

function quotaV1(writes: readonly CgroupWrite[], systemd: Version, current: (file: string) => string | undefined): Limits {
  const wanted = (file: string) => writes.findLast(({ path }) => fileOf(path) === file)?.value;
  const [quota, period] = [wanted("cpu.cfs_quota_us"), wanted("cpu.cfs_period_us")];
  if (quota === undefined && period === undefined) return { properties: [], writes };
  const known = (value: string | undefined, file: string) => BigInt(value ?? current(file)?.trim() ?? 0);
  const rounded = cpuQuota(known(quota, "cpu.cfs_quota_us"), known(period, "cpu.cfs_period_us"), systemd);
  const adjust = (write: CgroupWrite) => (fileOf(write.path) === "cpu.cfs_quota_us" ? { ...write, value: String(rounded.quota) } : write);
  return { properties: rounded.properties, writes: writes.map(adjust) };
}

/** cpu.max: "QUOTA [PERIOD]", where a missing period stays what it is. */
function quotaV2(writes: readonly CgroupWrite[], systemd: Version, current: (file: string) => string | undefined): Limits {
  const properties: Property[] = [];
  const adjusted = writes.map((write) => {
    const [, quota = "", given] = (fileOf(write.path) === "cpu.max" && /^\s*(max|\d{1,18})(?:\s+(\d{1,18}))?\s*$/.exec(write.value)) || [];
    if (quota === "") return write;
    const period = given ?? current("cpu.max")?.trim().split(/\s+/)[1] ?? "0";
    const rounded = cpuQuota(quota === "max" ? -1n : BigInt(quota), BigInt(period), systemd);
    properties.push(...rounded.properties);
    return quota === "max" ? write : { ...write, value: given === undefined ? String(rounded.quota) : `${rounded.quota} ${given}` };
  });
  return { properties, writes: adjusted };
}

/** "max" and -1 are unlimited; undefined for what only the kernel can judge. */
function parseAmount(value: string): bigint | undefined {
  const text = value.trim();
  if (text === "max" || text === "-1") return INFINITY;
  return /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

function fileOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
