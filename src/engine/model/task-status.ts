/** How far a task has come: as far as its containers. */
import type { ContainerRecord, TaskRecord } from "./record.ts";
import { type ContainerStatus, hasReached, type Steady, TASK_STATUSES, type TaskStatus } from "./status.ts";

/** A container that works where it should is RUNNING for its task. */
export function taskStatusOf(known: ContainerStatus, steady: Steady): TaskStatus {
  if (known === "STOPPED") return "STOPPED";
  if (hasReached(known, steady)) return "RUNNING";
  return hasReached(known, "CREATED") ? "CREATED" : "NONE";
}

/** The least of its containers, and never less than before. It stays while an essential one has stopped and others run. */
export function knownStatus({ known, containers }: TaskRecord): TaskStatus {
  const statuses = containers.map(({ known: one, steady }) => TASK_STATUSES.indexOf(taskStatusOf(one, steady)));
  const least = TASK_STATUSES[Math.min(...statuses)]!;
  const isEnding = containers.some(hasEnded) && least !== "STOPPED";
  if (isEnding || TASK_STATUSES.indexOf(least) < TASK_STATUSES.indexOf(known)) return known;
  return least;
}

export function hasEnded({ essential, known }: ContainerRecord): boolean {
  return essential && known === "STOPPED";
}
