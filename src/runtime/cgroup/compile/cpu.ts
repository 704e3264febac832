import { cpuWeight, HIGHEST_SHARES, LOWEST_SHARES } from "../../../shared/linux/index.ts";
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { Sink } from "./sink.ts";

type Cpu = NonNullable<ResourceConfig["cpu"]>;

const DEFAULT_PERIOD = 100_000n;

/** Order matters: real time before any task is in the group, the period before the quota, the burst (at most the quota) after it. */
export function writeCpuV1(sink: Sink, cpu: Cpu): void {
  if (cpu.realtimePeriod) sink.write("cpu", "cpu.rt_period_us", cpu.realtimePeriod, "cpu/realtimePeriod");
  if (cpu.realtimeRuntime) sink.write("cpu", "cpu.rt_runtime_us", cpu.realtimeRuntime, "cpu/realtimeRuntime");
  if (cpu.shares) writeShares(sink, cpu.shares);
  if (cpu.period) sink.write("cpu", "cpu.cfs_period_us", cpu.period, "cpu/period");
  if (cpu.quota) sink.write("cpu", "cpu.cfs_quota_us", cpu.quota, "cpu/quota");
  if (cpu.burst !== undefined) sink.write("cpu", "cpu.cfs_burst_us", cpu.burst, "cpu/burst");
  if (cpu.idle !== undefined) sink.write("cpu", "cpu.idle", cpu.idle, "cpu/idle");
}

/** The kernel would clip the value without an error. runc reads it back and refuses it with the same words. */
function writeShares(sink: Sink, shares: bigint): void {
  if (shares < LOWEST_SHARES) throw outOfRange(`the minimum allowed cpu-shares is ${LOWEST_SHARES}`);
  if (shares > HIGHEST_SHARES) throw outOfRange(`the maximum allowed cpu-shares is ${HIGHEST_SHARES}`);
  sink.write("cpu", "cpu.shares", shares, "cpu/shares");
}

function outOfRange(reason: string): RuntError {
  return new RuntError("config-invalid", `cannot apply linux.resources.cpu.shares: ${reason}`, { pointer: "/linux/resources/cpu/shares" });
}

export function writeCpuV2(sink: Sink, cpu: Cpu): void {
  if (cpu.realtimePeriod) sink.refuse("cpu/realtimePeriod", "cgroup v2 has no real-time limits");
  if (cpu.realtimeRuntime) sink.refuse("cpu/realtimeRuntime", "cgroup v2 has no real-time limits");
  if (cpu.idle !== undefined) sink.write("cpu", "cpu.idle", cpu.idle, "cpu/idle");
  if (cpu.shares) writeWeight(sink, cpu.shares, cpu.idle === 1n);
  if (cpu.quota || cpu.period) {
    const quota = cpu.quota && cpu.quota > 0n ? String(cpu.quota) : "max";
    sink.write("cpu", "cpu.max", `${quota} ${cpu.period || DEFAULT_PERIOD}`, cpu.quota ? "cpu/quota" : "cpu/period");
  }
  if (cpu.burst !== undefined) sink.write("cpu", "cpu.max.burst", cpu.burst, "cpu/burst");
}

function writeWeight(sink: Sink, shares: bigint, isIdle: boolean): void {
  // The kernel refuses a weight for an idle group.
  if (isIdle) {
    sink.warn("cpu/shares", "unable to apply both cpu shares and cpu idle: idle wins");
    return;
  }
  if (shares < LOWEST_SHARES || shares > HIGHEST_SHARES) {
    sink.warn("cpu/shares", `${shares} is taken as the nearest value between ${LOWEST_SHARES} and ${HIGHEST_SHARES}`);
  }
  sink.write("cpu", "cpu.weight", cpuWeight(shares), "cpu/shares");
}

/** The same files in both versions. */
export function writeCpuset(sink: Sink, cpu: Cpu): void {
  if (cpu.cpus) sink.write("cpuset", "cpuset.cpus", cpu.cpus, "cpu/cpus");
  if (cpu.mems) sink.write("cpuset", "cpuset.mems", cpu.mems, "cpu/mems");
}
