/**
 * Shared proxies: tasks with `start: needed`, which run while other tasks of their group use them (`sharedProxy`). The users are counted from the records each time, so
 * that the count cannot be wrong after a crash.
 */

import { isStarting } from "./checks.ts";
import type { TaskEvent } from "./event.ts";
import { reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import type { Instant } from "./time.ts";

/** Whether the task runs only while others use it, or uses such a task. */
export function sharesProxy({ spec }: Pick<TaskRecord, "spec">): boolean {
  return spec.start === "needed" || spec.sharedProxy !== undefined;
}

/** What the task waits for before it can be admitted; undefined: for no other task. `all`: all tasks. */
export function proxyWait(record: TaskRecord, all: readonly TaskRecord[]): string | undefined {
  const { start, sharedProxy } = record.spec;
  if (start === "needed" && !isUsed(record, all)) return "use: no task uses it";
  if (sharedProxy === undefined || proxiesOf(record, all).some(works)) return undefined;
  return `proxy: ${sharedProxy} does not work yet`;
}

/** What must happen to a task because of its proxy or its users; undefined: nothing. `all`: all tasks of its group. */
export function proxyEvent(record: TaskRecord, all: readonly TaskRecord[], at: Instant): TaskEvent | undefined {
  if (record.isDeleteAsked) return undefined;
  if (record.spec.start === "needed") return eventOfProxy(record, isUsed(record, all), at);
  const { sharedProxy } = record.spec;
  if (sharedProxy === undefined || record.desired === "STOPPED") return undefined;
  const proxies = proxiesOf(record, all);
  if (proxies.length === 0) return { type: "stop", at, reason: reason("ProxyFailed", `there is no shared proxy ${sharedProxy}`) };
  if (proxies.some((one) => one.desired === "RUNNING" || isUnneeded(one))) return undefined;
  const why = proxies.at(-1)!.reason ?? undefined;
  return { type: "stop", at, reason: reason("ProxyFailed", `the shared proxy ${sharedProxy} has stopped`, why) };
}

/** A proxy that nobody needs any more is stopped, and becomes a task that waits for its next use. One that a user has stopped stays stopped. */
function eventOfProxy(record: TaskRecord, isInUse: boolean, at: Instant): TaskEvent | undefined {
  if (record.desired === "RUNNING") {
    if (isInUse || record.admission === "waiting") return undefined;
    return { type: "stop", at, reason: reason("NotNeeded", "no task uses it any more") };
  }
  const isOver = record.known === "STOPPED" && isSettled(record) && record.reason?.code !== "StoppedByUser";
  return isOver && (isUnneeded(record) || !isInUse) ? { type: "renew", at } : undefined;
}

function isUnneeded({ reason: why }: TaskRecord): boolean {
  return why?.code === "NotNeeded";
}

/** A task uses its proxy until it has ended. */
function isUsed({ group, name }: TaskRecord, all: readonly TaskRecord[]): boolean {
  return all.some((one) => one.group === group && one.spec.sharedProxy === name && (one.desired === "RUNNING" || one.known !== "STOPPED"));
}

/** There may be two while one replaces the other. */
function proxiesOf({ group, spec }: TaskRecord, all: readonly TaskRecord[]): TaskRecord[] {
  return all.filter((one) => one.group === group && one.name === spec.sharedProxy && one.spec.start === "needed" && !one.isDeleteAsked);
}

/** Nothing of the earlier run is in flight, and its network was given back. */
function isSettled({ containers, resources }: TaskRecord): boolean {
  return (
    containers.every(({ applied }) => applied === null) &&
    resources.every(({ applied, kind, known }) => applied === null && (kind !== "network" || known !== "CREATED"))
  );
}

/** Whether a task does its work: other tasks may rely on it. */
export function works({ known, desired, containers }: TaskRecord): boolean {
  return (
    known === "RUNNING" &&
    desired === "RUNNING" &&
    containers.every((one) => !isStarting(one) && (one.health === null || one.health.status === "HEALTHY"))
  );
}
