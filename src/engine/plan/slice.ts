/** What the slice of a task is limited to, as properties of the unit in GVariant text (systemd.resource-control(5)). Pure. */
import { cpuWeight } from "../../shared/linux/index.ts";
import type { TaskResources } from "./task-limits.ts";

const SECOND_US = 1_000_000;
/** systemd counts CPU time in whole percents of one CPU. */
const PERCENT_US = 10_000;

/** The accounting makes systemd hand the controllers down to the containers. A task with a limit of memory does not use swap beyond it. */
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
