/** Ids are derived from names, so they are known from the record before anything is made. */
import { createHash } from "node:crypto";

/** Of the process that holds the shared namespaces. A user's container cannot have this name: it has a slash. */
export const PAUSE_NAME = "runtd/pause";

const LONGEST_READABLE = 30;
const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,139}$/;

/** Group and task names have no dot, so that two tasks never have the same id. `revision` is one more for each replacement. */
export function taskId(group: string, name: string, revision: number): string {
  return `${group}.${name}.${revision}`;
}

/** Ids ascend by it in the order in which their tasks were applied. */
export function revisionOf(id: string): number {
  return Number(id.slice(id.lastIndexOf(".") + 1));
}

/** Makes a text safe as a part of paths: no slash, no "..", bounded length. */
export function isTaskId(id: string): boolean {
  return TASK_ID.test(id) && !id.includes("..");
}

/** Id of one incarnation for the runtime: readable, unique whatever characters the name has, at most 200 characters. */
export function runtimeId(task: string, container: string, generation: number): string {
  const readable = container.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, LONGEST_READABLE);
  const hash = createHash("sha256").update(container).digest("hex").slice(0, 8);
  return `${task}.${readable}-${hash}.${generation}`;
}
