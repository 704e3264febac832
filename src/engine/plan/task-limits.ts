/** Limits of the cgroup of a task. Pure. */
import { cpuWeight } from "../../shared/linux/index.ts";
import type { ContainerSpec, TaskSpec } from "../spec/index.ts";

/** Microseconds: 100 ms, as the limits of single containers have it. */
const CPU_PERIOD = 100_000;
/** The kernel's bounds for cpu.shares (kernel/sched/sched.h). */
const SHARES = { least: 2, most: 262_144, unsaid: 1024 } as const;

/** The limits of a task, as linux.resources of an OCI configuration names them. */
export interface TaskResources {
  readonly cpu: { readonly quota: number; readonly period: number } | { readonly shares: number };
  readonly memory?: { readonly limit: number };
  readonly pids?: { readonly limit: number };
}

/** A limit of CPUs is one of time; without it the task has the weight that its containers have together. */
export function taskResources({ cpus, memory, pids, containers, namespaces }: TaskSpec): TaskResources {
  const shares = containers.reduce((sum, one) => sum + (sharesOf(one) ?? SHARES.unsaid), 0);
  // The process that holds the shared namespaces is none of the user's.
  const own = Object.values(namespaces).includes("shared") ? 1 : 0;
  return {
    cpu: cpus === undefined ? { shares: Math.min(SHARES.most, shares) } : { quota: Math.trunc(cpus * CPU_PERIOD), period: CPU_PERIOD },
    ...(memory === undefined ? {} : { memory: { limit: memory } }),
    ...(pids === undefined ? {} : { pids: { limit: pids + own } }),
  };
}

/** What the kernel gets for cpuShares; undefined: the container says nothing of it. */
export function sharesOf({ cpuShares }: ContainerSpec): number | undefined {
  return cpuShares === undefined ? undefined : Math.min(SHARES.most, Math.max(SHARES.least, cpuShares));
}

export interface FileWrite {
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  readonly isOptional?: boolean;
}

/**
 * In the order in which they are written. A task with a limit of memory does not use swap beyond it. Where nothing divides CPU time between cgroups, a weight
 * asks for nothing.
 */
export function limitWrites({ cpu, memory, pids }: TaskResources, cgroupVersion: 1 | 2): FileWrite[] {
  const write = (controller: string, file: string, value: number | bigint | string, isOptional = false): FileWrite => ({
    controller,
    file,
    value: String(value),
    ...(isOptional ? { isOptional } : {}),
  });
  const limits = pids === undefined ? [] : [write("pids", "pids.max", pids.limit)];
  if (cgroupVersion === 1) {
    if (memory !== undefined) limits.push(write("memory", "memory.limit_in_bytes", memory.limit), write("memory", "memory.swappiness", 0));
    if ("shares" in cpu) return [...limits, write("cpu", "cpu.shares", cpu.shares, true)];
    return [...limits, write("cpu", "cpu.cfs_period_us", cpu.period), write("cpu", "cpu.cfs_quota_us", cpu.quota)];
  }
  if (memory !== undefined) limits.push(write("memory", "memory.max", memory.limit), write("memory", "memory.swap.max", 0, true));
  if ("shares" in cpu) return [...limits, write("cpu", "cpu.weight", cpuWeight(BigInt(cpu.shares)), true)];
  return [...limits, write("cpu", "cpu.max", `${cpu.quota} ${cpu.period}`)];
}
