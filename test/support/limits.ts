/** Every limit of linux.resources: two settings, and what the kernel shows of each. Files that this host lacks are left out. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { CGROUPS, isUnified, type LimitFile } from "./cgroups.ts";

const MIB = 1024 * 1024;

export interface Limit {
  /** Path in linux.resources: "memory.limit". */
  readonly field: string;
  readonly file: LimitFile;
  /** The values for create and for update. */
  readonly values: readonly [unknown, unknown];
  /** What the kernel shows. A text need only be contained in it. */
  readonly shown: { readonly v1: readonly [string, string]; readonly v2: readonly [string, string] };
}

const bytes = (first: number, second: number) => [String(first * MIB), String(second * MIB)] as const;
const same = (first: string, second: string) => ({ v1: [first, second], v2: [first, second] }) as const;
const onlyV1 = (...v1: readonly [string, string]) => ({ v1, v2: ["", ""] }) as const;

/** A block device of this host, "254:0". */
export const DISK = readdirSync("/sys/block")
  .map((name) => readFileSync(`/sys/block/${name}/dev`, "utf8").trim())
  .find((device) => !device.startsWith("7:"));

const [major, minor] = (DISK ?? "0:0").split(":").map(Number);
const throttle = (rate: number) => [{ major, minor, rate }];
const throttled = (v1: string, key: string, first: number, second: number): Omit<Limit, "field"> => ({
  file: { v1, v2: "io.max" },
  values: [throttle(first), throttle(second)],
  shown: { v1: [`${DISK} ${first}`, `${DISK} ${second}`], v2: [`${key}=${first}`, `${key}=${second}`] },
});

const TABLE: readonly Limit[] = [
  {
    field: "memory.limit",
    file: { v1: "memory.limit_in_bytes", v2: "memory.max" },
    values: [64 * MIB, 96 * MIB],
    shown: same(...bytes(64, 96)),
  },
  {
    field: "memory.swap",
    file: { v1: "memory.memsw.limit_in_bytes", v2: "memory.swap.max" },
    values: [96 * MIB, 160 * MIB],
    shown: { v1: bytes(96, 160), v2: bytes(32, 64) },
  },
  {
    field: "memory.reservation",
    file: { v1: "memory.soft_limit_in_bytes", v2: "memory.low" },
    values: [32 * MIB, 48 * MIB],
    shown: same(...bytes(32, 48)),
  },
  { field: "memory.swappiness", file: { v1: "memory.swappiness", v2: "" }, values: [10, 20], shown: onlyV1("10", "20") },
  {
    field: "memory.disableOOMKiller",
    file: { v1: "memory.oom_control", v2: "" },
    values: [true, true],
    shown: onlyV1("oom_kill_disable 1", "oom_kill_disable 1"),
  },
  { field: "memory.useHierarchy", file: { v1: "memory.use_hierarchy", v2: "" }, values: [true, true], shown: onlyV1("1", "1") },
  {
    field: "cpu.shares",
    file: { v1: "cpu.shares", v2: "cpu.weight" },
    values: [512, 2048],
    shown: { v1: ["512", "2048"], v2: ["59", "174"] },
  },
  {
    field: "cpu.quota",
    file: { v1: "cpu.cfs_quota_us", v2: "cpu.max" },
    values: [50_000, 40_000],
    shown: { v1: ["50000", "40000"], v2: ["50000 ", "40000 "] },
  },
  {
    field: "cpu.period",
    file: { v1: "cpu.cfs_period_us", v2: "cpu.max" },
    values: [100_000, 80_000],
    shown: { v1: ["100000", "80000"], v2: [" 100000", " 80000"] },
  },
  {
    field: "cpu.burst",
    file: { v1: "cpu.cfs_burst_us", v2: "cpu.max.burst" },
    values: [45_000, 20_000],
    shown: same("45000", "20000"),
  },
  { field: "cpu.realtimePeriod", file: { v1: "cpu.rt_period_us", v2: "" }, values: [500_000, 600_000], shown: onlyV1("500000", "600000") },
  { field: "cpu.realtimeRuntime", file: { v1: "cpu.rt_runtime_us", v2: "" }, values: [2000, 3000], shown: onlyV1("2000", "3000") },
  { field: "cpu.cpus", file: { v1: "cpuset.cpus", v2: "cpuset.cpus" }, values: ["0-1", "0"], shown: same("0-1", "0") },
  { field: "cpu.mems", file: { v1: "cpuset.mems", v2: "cpuset.mems" }, values: ["0", "0"], shown: same("0", "0") },
  { field: "pids.limit", file: { v1: "pids.max", v2: "pids.max" }, values: [32, 64], shown: same("32", "64") },
  {
    field: "blockIO.weight",
    file: { v1: "blkio.bfq.weight", v2: existsFor("io", "io.bfq.weight") ? "io.bfq.weight" : "io.weight" },
    values: [500, 750],
    shown: { v1: ["500", "750"], v2: existsFor("io", "io.bfq.weight") ? ["500", "750"] : ["default 4950", "default 7475"] },
  },
  { field: "blockIO.throttleReadBpsDevice", ...throttled("blkio.throttle.read_bps_device", "rbps", 1_048_576, 2_097_152) },
  { field: "blockIO.throttleWriteBpsDevice", ...throttled("blkio.throttle.write_bps_device", "wbps", 1_048_577, 2_097_153) },
  { field: "blockIO.throttleReadIOPSDevice", ...throttled("blkio.throttle.read_iops_device", "riops", 100, 200) },
  { field: "blockIO.throttleWriteIOPSDevice", ...throttled("blkio.throttle.write_iops_device", "wiops", 101, 201) },
  {
    field: "hugepageLimits",
    file: { v1: "hugetlb.2MB.limit_in_bytes", v2: "hugetlb.2MB.max" },
    values: [[{ pageSize: "2MB", limit: 4 * MIB }], [{ pageSize: "2MB", limit: 8 * MIB }]],
    shown: same(...bytes(4, 8)),
  },
  {
    field: "network.classID",
    file: { v1: "net_cls.classid", v2: "" },
    values: [0x10_0001, 0x10_0002],
    shown: onlyV1(String(0x10_0001), String(0x10_0002)),
  },
  {
    field: "network.priorities",
    file: { v1: "net_prio.ifpriomap", v2: "" },
    values: [[{ name: "lo", priority: 5 }], [{ name: "lo", priority: 6 }]],
    shown: onlyV1("lo 5", "lo 6"),
  },
];

/** Whether a new cgroup of this host has the file: a hierarchy's root lacks some, and a kernel may lack any. */
function existsFor(controller: string, file: string): boolean {
  const probe = `${isUnified ? CGROUPS : `${CGROUPS}/${controller}`}/runt-probe-${process.pid}`;
  try {
    mkdirSync(probe);
  } catch {
    // There is no such hierarchy, or no right to make a cgroup in it.
    return false;
  }
  const found = existsSync(`${probe}/${file}`);
  rmdirSync(probe);
  return found;
}

/** The name of the file on this host; "" when this version has no such limit. */
export function fileOf({ file }: Limit): string {
  return isUnified ? file.v2 : file.v1;
}

/** The limits that this version of cgroups has, and whose controller the host has. */
export const LIMITS: readonly Limit[] = TABLE.filter((limit) => {
  const file = fileOf(limit);
  const controller = file.slice(0, file.indexOf("."));
  if (file === "" || (file.startsWith("blkio.") && DISK === undefined)) return false;
  return isUnified
    ? readFileSync(`${CGROUPS}/cgroup.controllers`, "utf8").trim().split(" ").includes(controller)
    : existsSync(`${CGROUPS}/${controller}/cgroup.procs`) && existsFor(controller, file);
});

/** linux.resources with these limits. */
export function resourcesOf(limits: readonly Limit[], which: 0 | 1): Record<string, Record<string, unknown>> {
  const resources: Record<string, Record<string, unknown>> = {};
  for (const { field, values } of limits) {
    const [group = "", name] = field.split(".");
    if (name === undefined) Object.assign(resources, { [group]: values[which] });
    else resources[group] = { ...resources[group], [name]: values[which] };
  }
  return resources;
}
