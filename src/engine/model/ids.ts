/** Ids are derived from names, so that a record contains the id of everything before it is made. */
import { createHash } from "node:crypto";

/** Name of the container that holds the shared namespaces. It contains a slash, which no container of a task file may have. */
export const PAUSE_NAME = "runtd/pause";

const LONGEST_READABLE = 30;
const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,139}$/;

/** Names of groups and tasks contain no dot, so that two tasks never have the same id. Each replacement gets a higher `revision`. */
export function taskId(group: string, name: string, revision: number): string {
  return `${group}.${name}.${revision}`;
}

/** The revision in a task id. Later tasks have higher ones. */
export function revisionOf(id: string): number {
  return Number(id.slice(id.lastIndexOf(".") + 1));
}

/** Whether a text can be a task id, and therefore part of a path: it has no slash, no "..", and a bounded length. */
export function isTaskId(id: string): boolean {
  return TASK_ID.test(id) && !id.includes("..");
}

/** Id of the task to which an incarnation belongs: none of its parts contains a dot. */
export function taskIdOf(runtime: string): string {
  return runtime.split(".", 3).join(".");
}

/** The runtime id of one incarnation: readable, unique for any characters in the name, at most 200 characters. */
export function runtimeId(task: string, container: string, generation: number): string {
  const readable = container.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, LONGEST_READABLE);
  const hash = createHash("sha256").update(container).digest("hex").slice(0, 8);
  return `${task}.${readable}-${hash}.${generation}`;
}
