import type { ResourceConfig } from "../../config/types.ts";
import { cpuWeight } from "./cpu-weight.ts";
import type { Sink } from "./sink.ts";

type Cpu = NonNullable<ResourceConfig["cpu"]>;

const DEFAULT_PERIOD = 100_000n;

/** Order matters: real time before any task is in the group, the period before the quota, the burst (at most the quota) after it. */
export function writeCpuV1(sink: Sink, cpu: Cpu): void {
  if (cpu.realtimePeriod) sink.write("cpu", "cpu.rt_period_us", cpu.realtimePeriod, "cpu/realtimePeriod");
  if (cpu.realtimeRuntime) sink.write("cpu", "cpu.rt_runtime_us", cpu.realtimeRuntime, "cpu/realtimeRuntime");
  if (cpu.shares) sink.write("cpu", "cpu.shares", cpu.shares, "cpu/shares");
  if (cpu.period) sink.write("cpu", "cpu.cfs_period_us", cpu.period, "cpu/period");
  if (cpu.quota) sink.write("cpu", "cpu.cfs_quota_us", cpu.quota, "cpu/quota");
  if (cpu.burst) sink.write("cpu", "cpu.cfs_burst_us", cpu.burst, "cpu/burst");
  if (cpu.idle !== undefined) sink.write("cpu", "cpu.idle", cpu.idle, "cpu/idle");
}

export function writeCpuV2(sink: Sink, cpu: Cpu): void {
  if (cpu.idle !== undefined) sink.write("cpu", "cpu.idle", cpu.idle, "cpu/idle");
  if (cpu.shares) {
    // The kernel refuses a weight for an idle group.
    if (cpu.idle === 1n) sink.warn("cpu/shares", "unable to apply both cpu shares and cpu idle: idle wins");
    else sink.write("cpu", "cpu.weight", cpuWeight(cpu.shares), "cpu/shares");
  }
  if (cpu.quota || cpu.period) {
    const quota = cpu.quota && cpu.quota > 0n ? String(cpu.quota) : "max";
    sink.write("cpu", "cpu.max", `${quota} ${cpu.period || DEFAULT_PERIOD}`, cpu.quota ? "cpu/quota" : "cpu/period");
  }
  if (cpu.burst) sink.write("cpu", "cpu.max.burst", cpu.burst, "cpu/burst");
  if (cpu.realtimePeriod) sink.warn("cpu/realtimePeriod", "cgroup v2 has no real-time limits");
  if (cpu.realtimeRuntime) sink.warn("cpu/realtimeRuntime", "cgroup v2 has no real-time limits");
}

/** The same files in both versions. */
export function writeCpuset(sink: Sink, cpu: Cpu): void {
  if (cpu.cpus) sink.write("cpuset", "cpuset.cpus", cpu.cpus, "cpu/cpus");
  if (cpu.mems) sink.write("cpuset", "cpuset.mems", cpu.mems, "cpu/mems");
}
