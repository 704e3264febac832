/** Resource usage of containers, as the kernel counts it. */
import type { LogUse, Stats } from "../../../executor/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { Limit } from "../limit.ts";
import type { TaskView } from "../view.ts";
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
  /** Milliseconds of CLOCK_MONOTONIC, which nobody can set. Divide the difference of two samples by the difference of their clocks to get a rate. */
  readonly clockMs: number;
  /** Microseconds of processor time since the start. null, here and below: the kernel does not count it. */
  readonly cpuUs: number | null;
  readonly memoryBytes: number | null;
  /** null: there is no limit. */
  readonly memoryLimitBytes: number | null;
  readonly processes: number | null;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
  /** Number of processes that the kernel's OOM killer has ended. */
  readonly oomKills: number | null;
}

/** One entry for each running container of these tasks. Containers that end during the call are left out. */
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
    // Unlike performance.now(), this clock is the same for every daemon of one boot.
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

/** What a container has printed. */
export interface LogUseView {
  /** Name of the task. */
  readonly task: string;
  readonly container: string;
  readonly use: LogUse;
}

/** One entry for each container that has a log. */
export function logUsesOf(tasks: readonly TaskView[], runtime: Pick<ContainerRuntime, "logUse">): LogUseView[] {
  return tasks.flatMap(({ name, containers }) =>
    containers.flatMap((container) => {
      const use = runtime.logUse(container.id);
      return use === undefined ? [] : [{ task: name, container: container.name, use }];
    }),
  );
}
