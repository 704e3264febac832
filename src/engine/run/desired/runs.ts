/** Schedules and their runs. Pure. */
import type { TaskRecord } from "../../model/index.ts";
import type { Step } from "./apply.ts";
import type { Draft } from "./draft.ts";

type Removal = Extract<Step, { type: "remove" }>;

/** The tasks, and behind each schedule its runs. */
export function withRuns(tasks: readonly TaskRecord[], all: readonly TaskRecord[]): TaskRecord[] {
  const isRunOf = (one: TaskRecord, { group, name, spec }: TaskRecord) =>
    spec.schedule !== undefined && one.group === group && one.run?.of === name && !one.isDeleteAsked;
  return [...new Set(tasks.flatMap((task) => [task, ...all.filter((one) => isRunOf(one, task))]))];
}

/** The runs of a schedule go with it, unless another schedule takes its place. */
export function runsRemovedWith(step: Removal, draft: Pick<Draft, "get" | "all">): Removal[] {
  const record = draft.get(step.id);
  const isReplaced = step.by !== undefined && draft.get(step.by)?.spec.schedule !== undefined;
  if (record?.spec.schedule === undefined || isReplaced) return [];
  const [, ...runs] = withRuns([record], draft.all());
  return runs.map(({ id }) => ({ ...step, id }));
}
