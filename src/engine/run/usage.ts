/** Resource usage of containers, as the kernel counts it. */
import type { Stats } from "../../executor/index.ts";
import type { TaskRecord } from "../model/index.ts";
import { Limit } from "./limit.ts";
import type { ContainerRuntime } from "./runtime.ts";

const LOOKS_AT_ONCE = 16;

export interface UsageView {
  /** Id of the task. */
  readonly task: string;
  readonly group: string;
  readonly name: string;
  readonly container: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Milliseconds of CLOCK_MONOTONIC, which nobody sets: what was used between two looks is over their difference. */
  readonly clockMs: number;
  /** Microseconds of processor time in all; null, here and below: the host does not count it. */
  readonly cpuUs: number | null;
  readonly memoryBytes: number | null;
  /** null: it has none. */
  readonly memoryLimitBytes: number | null;
  readonly processes: number | null;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
  /** Processes that the kernel has killed for memory. */
  readonly oomKills: number | null;
}

/** Of each container of these tasks that runs. One that ends meanwhile is left out. */
export async function usages(tasks: readonly TaskRecord[], runtime: ContainerRuntime): Promise<UsageView[]> {
  const limit = new Limit(LOOKS_AT_ONCE);
  const running = tasks.flatMap((task) =>
    task.containers
      .filter(({ known }) => known === "RUNNING")
      .map(({ name, runtimeId }) => limit.run(async () => usageOf(task, name, await runtime.stats(runtimeId)))),
  );
  return (await Promise.allSettled(running)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

function usageOf({ id, group, name }: TaskRecord, container: string, { atMs, cpu, memory, pids, io }: Stats): UsageView {
  return {
    ...{ task: id, group, name, container, atMs },
    // The same clock for each daemon of a boot, as performance.now() is not.
    clockMs: Number(process.hrtime.bigint() / 1_000n) / 1_000,
    cpuUs: cpu.usageUs ?? null,
    memoryBytes: memory.usageBytes ?? null,
    memoryLimitBytes: memory.limitBytes ?? null,
    processes: pids.current ?? null,
    readBytes: io.readBytes ?? null,
    writtenBytes: io.writeBytes ?? null,
    oomKills: memory.oomKills ?? null,
  };
}
