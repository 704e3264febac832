/** Computes the status of a task from its containers. */
import type { ContainerRecord, TaskRecord } from "./record.ts";
import { type ContainerStatus, hasReached, type Steady, TASK_STATUSES, type TaskStatus } from "./status.ts";

/** A container that has reached its steady status counts as RUNNING. */
export function taskStatusOf(known: ContainerStatus, steady: Steady): TaskStatus {
  if (known === "STOPPED") return "STOPPED";
  if (hasReached(known, steady)) return "RUNNING";
  return hasReached(known, "CREATED") ? "CREATED" : "NONE";
}

/** The lowest status of the containers, and never lower than before. A task that is over keeps its status while some of its containers still run. */
export function knownStatus({ known, spec, containers }: TaskRecord): TaskStatus {
  const statuses = containers.map(({ known: one, steady }) => TASK_STATUSES.indexOf(taskStatusOf(one, steady)));
  const least = TASK_STATUSES[Math.min(...statuses)]!;
  const isEnding = endingOf({ spec, containers }) !== undefined && least !== "STOPPED";
  if (isEnding || TASK_STATUSES.indexOf(least) < TASK_STATUSES.indexOf(known)) return known;
  return least;
}

/** The container whose end ends the task; undefined: the task goes on. If several had to end, one that has failed. */
export function endingOf({ spec, containers }: Pick<TaskRecord, "spec" | "containers">): ContainerRecord | undefined {
  const essential = containers.filter((one) => one.essential);
  const ended = essential.filter(({ known }) => known === "STOPPED");
  if (spec.ends !== "all") return ended[0];
  const holder = ended.find(({ type }) => type === "namespacePause");
  if (holder !== undefined) return holder;
  const isOver = essential.every(({ type, known }) => type === "namespacePause" || known === "STOPPED");
  return isOver ? (ended.find(({ exit }) => exit?.code !== 0) ?? ended.at(-1)) : undefined;
}
