/**
 * What runt writes to the files of a cgroup, as properties of its unit: systemd must know every limit that it manages itself, or it
 * would set it back when it is reloaded. Files that are not listed are runt's alone.
 */
import type { CgroupWrite } from "../../compile/steps.ts";
import { lastOfEach, type Property, property, type Version } from "./property.ts";

const HIGHEST = 0xffff;

/** "0-3,8" as AllowedCPUs has it: bit N of the whole, lowest byte first. undefined for what is no list (the kernel will say so). */
export function cpuBits(list: string): Uint8Array | undefined {
  const bytes: number[] = [];
  for (const part of list.split(",")) {
    const match = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first || last > HIGHEST) return undefined;
    for (let cpu = first; cpu <= last; cpu++) bytes[cpu >> 3] = (bytes[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  }
  return Uint8Array.from(bytes, (byte) => byte ?? 0);
}

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

const SECOND = 1_000_000n;
const PERCENT = 10_000n;
const DEFAULT_PERIOD = 100_000n;
/** USEC_INFINITY. */
const NO_QUOTA = (1n << 64n) - 1n;
/** CPUQuotaPeriodUSec is new in this version. */
const PERIODS = 242;

interface Quota {
  readonly properties: readonly Property[];
  /** What the kernel is given: the quota rounded up as systemd rounds it, so that a reload changes nothing. */
  readonly quota: bigint;
}

/**
 * CPU quotas: systemd has whole percents of a CPU, the kernel microseconds a period. Microseconds;
 * quota <= 0 is unlimited.
 */
export function cpuQuota(quota: bigint, period: bigint, systemd: Version): Quota {
  const each = period > 0n ? period : DEFAULT_PERIOD;
  const perSecond = quota > 0n ? roundUp((quota * SECOND) / each) : NO_QUOTA;
  return {
    properties: [
      ...(systemd() >= PERIODS ? [property("CPUQuotaPeriodUSec", "t", each)] : []),
      property("CPUQuotaPerSecUSec", "t", perSecond),
    ],
    quota: quota > 0n ? (perSecond * each) / SECOND : quota,
  };
}

function roundUp(microseconds: bigint): bigint {
  return ((microseconds + PERCENT - 1n) / PERCENT) * PERCENT;
}
