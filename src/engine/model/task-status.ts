/** The status of a task, computed from its containers. */
import type { ContainerRecord, TaskRecord } from "./record.ts";
import { type ContainerStatus, hasReached, type Steady, TASK_STATUSES, type TaskStatus } from "./status.ts";

/** A container that works where it should is RUNNING for its task. */
export function taskStatusOf(known: ContainerStatus, steady: Steady): TaskStatus {
  if (known === "STOPPED") return "STOPPED";
  if (hasReached(known, steady)) return "RUNNING";
  return hasReached(known, "CREATED") ? "CREATED" : "NONE";
}

/** The least of its containers, and never less than before. It stays while the task is over and some of them run. */
export function knownStatus({ known, spec, containers }: TaskRecord): TaskStatus {
  const statuses = containers.map(({ known: one, steady }) => TASK_STATUSES.indexOf(taskStatusOf(one, steady)));
  const least = TASK_STATUSES[Math.min(...statuses)]!;
  const isEnding = endingOf({ spec, containers }) !== undefined && least !== "STOPPED";
  if (isEnding || TASK_STATUSES.indexOf(least) < TASK_STATUSES.indexOf(known)) return known;
  return least;
}

/** Whose end is the end of the task; undefined: it goes on. Of several that had to end together, one that has failed. */
export function endingOf({ spec, containers }: Pick<TaskRecord, "spec" | "containers">): ContainerRecord | undefined {
  const essential = containers.filter((one) => one.essential);
  const ended = essential.filter(({ known }) => known === "STOPPED");
  if (spec.ends !== "all") return ended[0];
  const holder = ended.find(({ type }) => type === "namespacePause");
  if (holder !== undefined) return holder;
  const isOver = essential.every(({ type, known }) => type === "namespacePause" || known === "STOPPED");
  return isOver ? (ended.find(({ exit }) => exit?.code !== 0) ?? ended.at(-1)) : undefined;
}
