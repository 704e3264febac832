/** Schedules and their runs. Pure. */
import type { TaskRecord } from "../../model/index.ts";

/** The tasks, and behind each schedule its runs. */
export function withRuns(tasks: readonly TaskRecord[], all: readonly TaskRecord[]): TaskRecord[] {
  const isRunOf = (one: TaskRecord, { group, name, spec }: TaskRecord) =>
    spec.schedule !== undefined && one.group === group && one.run?.of === name && !one.isDeleteAsked;
  return [...new Set(tasks.flatMap((task) => [task, ...all.filter((one) => isRunOf(one, task))]))];
}
