/** Finds a task by its name, and says what a restart of it is. Pure. */
import type { TaskRecord } from "../../model/index.ts";
import { currentOf } from "./apply.ts";

/** Finds a task by id or by name. Of several with one name, the newest that was not deleted counts, or else the newest. undefined: there is none. */
export function taskNamed(tasks: readonly TaskRecord[], name: string, group: string): TaskRecord | undefined {
  return (
    tasks.find(({ id }) => id === name) ??
    currentOf(tasks, group, name) ??
    tasks.findLast((one) => one.group === group && one.name === name)
  );
}

export interface Restart extends Pick<TaskRecord, "id" | "name" | "group"> {
  readonly containers: readonly string[];
}

export function restartOf({ id, name, group, spec }: TaskRecord): Restart {
  return { id, name, group, containers: spec.containers.map((one) => one.name) };
}

export function isToRun({ desired, isDeleteAsked }: TaskRecord): boolean {
  return desired === "RUNNING" && !isDeleteAsked;
}
