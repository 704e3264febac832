/** The limits of a task's slice, as unit properties in GVariant text (systemd.resource-control(5)). Pure. */
import { cpuWeight } from "../../shared/linux/index.ts";
import type { TaskResources } from "./task-limits.ts";

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
