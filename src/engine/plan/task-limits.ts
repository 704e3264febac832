/** The limits of a task's cgroup. Pure. */
import { cpuWeight, HIGHEST_SHARES } from "../../shared/linux/index.ts";
import { appliedShares, type TaskSpec } from "../spec/index.ts";

/** In microseconds: 100 ms, the same period as in limits of containers. */
const CPU_PERIOD = 100_000;
/** cpu.shares of a cgroup in which nobody has set a value. Source: kernel/sched/sched.h. */
const UNSAID_SHARES = 1024;

/** The limits of a task, named as in linux.resources of an OCI configuration. */
export interface TaskResources {
  readonly cpu: { readonly quota: number; readonly period: number } | { readonly shares: number };
  readonly memory?: { readonly limit: number };
  readonly pids?: { readonly limit: number };
  /** Bytes by page size, such as "2MB". */
  readonly hugepages?: Readonly<Record<string, number>>;
}

/**
 * `cpus` becomes a quota. Without it the task gets the sum of its containers' weights. A task in a virtual machine gets no memory limit here:
 * `memory` is the size of the machine. The hypervisor needs more than the guest has, and the runtime limits it.
 */
export function taskResources(
  { cpus, memory: given, pids, hugepages, containers, namespaces }: TaskSpec,
  isInMachine = false,
): TaskResources {
  const memory = isInMachine ? undefined : given;
  const shares = containers.reduce((sum, one) => sum + (appliedShares(one) ?? UNSAID_SHARES), 0);
  // The pause container is not counted as one of the user's processes.
  const own = Object.values(namespaces).includes("shared") ? 1 : 0;
  return {
    cpu:
      cpus === undefined
        ? { shares: Math.min(Number(HIGHEST_SHARES), shares) }
        : { quota: Math.trunc(cpus * CPU_PERIOD), period: CPU_PERIOD },
    ...(memory === undefined ? {} : { memory: { limit: memory } }),
    ...(pids === undefined ? {} : { pids: { limit: pids + own } }),
    ...(hugepages === undefined ? {} : { hugepages }),
  };
}

export interface FileWrite {
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  readonly isOptional?: boolean;
}

/**
 * The writes, in order. A task with a memory limit may not use swap in addition. A weight is optional: on a host without its controller, CPU time
 * is not divided between cgroups.
 */
export function limitWrites({ cpu, memory, pids, hugepages = {} }: TaskResources, cgroupVersion: 1 | 2): FileWrite[] {
  const write = (controller: string, file: string, value: number | bigint | string, isOptional = false): FileWrite => ({
    controller,
    file,
    value: String(value),
    ...(isOptional ? { isOptional } : {}),
  });
  const pages = cgroupVersion === 1 ? "limit_in_bytes" : "max";
  const limits = [
    ...(pids === undefined ? [] : [write("pids", "pids.max", pids.limit)]),
    ...Object.entries(hugepages).map(([size, bytes]) => write("hugetlb", `hugetlb.${size}.${pages}`, bytes)),
  ];
  if (cgroupVersion === 1) {
    if (memory !== undefined) limits.push(write("memory", "memory.limit_in_bytes", memory.limit), write("memory", "memory.swappiness", 0));
    if ("shares" in cpu) return [...limits, write("cpu", "cpu.shares", cpu.shares, true)];
    return [...limits, write("cpu", "cpu.cfs_period_us", cpu.period), write("cpu", "cpu.cfs_quota_us", cpu.quota)];
  }
  if (memory !== undefined) limits.push(write("memory", "memory.max", memory.limit), write("memory", "memory.swap.max", 0, true));
  if ("shares" in cpu) return [...limits, write("cpu", "cpu.weight", cpuWeight(BigInt(cpu.shares)), true)];
  return [...limits, write("cpu", "cpu.max", `${cpu.quota} ${cpu.period}`)];
}

/** The limits of a task's slice, as unit properties in GVariant text (systemd.resource-control(5)). Pure. */
const SECOND_US = 1_000_000;
/** systemd stores CPU time in whole percents of one CPU: microseconds per second for one percent. */
const PERCENT_US = 10_000;

/** Accounting is switched on so that systemd enables the controllers for the containers. A task with a memory limit may not use swap in addition. */
export function sliceProperties({ cpu, memory, pids }: TaskResources, task: string): string[] {
  const number = (name: string, value: number | bigint) => `${name}=uint64 ${value}`;
  const quota = (perSecond: number) => Math.ceil(perSecond / PERCENT_US) * PERCENT_US;
  return [
    `Description='runtd task ${task}'`,
    ...["CPU", "Memory", "Tasks", "IO"].map((name) => `${name}Accounting=true`),
    ...("shares" in cpu
      ? [number("CPUWeight", cpuWeight(BigInt(cpu.shares)))]
      : [number("CPUQuotaPeriodUSec", cpu.period), number("CPUQuotaPerSecUSec", quota((cpu.quota * SECOND_US) / cpu.period))]),
    ...(memory === undefined ? [] : [number("MemoryMax", memory.limit), number("MemorySwapMax", 0)]),
    ...(pids === undefined ? [] : [number("TasksMax", pids.limit)]),
  ];
}
