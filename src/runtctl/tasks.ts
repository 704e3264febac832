/** Requests for tasks. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineEvent, OrphanView, TaskView } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { followEvents } from "./event-stream.ts";
import type { Session } from "./session.ts";

/** @param action the last part of the path */
export function taskPath(name: string, group: string, action?: "stop" | "restart" | "rollback"): string {
  const below = action === undefined ? "" : `/${action}`;
  return `/v1/tasks/${encodeURIComponent(name)}${below}?group=${encodeURIComponent(group)}`;
}

/** Path of a request about a task, with its query. Undefined parameters are left out. */
export function inTask({ group }: Session, name: string, what: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const pairs = Object.entries({ group, ...query }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as [string, string]],
  );
  return `/v1/tasks/${encodeURIComponent(name)}/${what}?${new URLSearchParams(pairs)}`;
}

/** @throws ClientError unknown-task */
export function taskOf({ client, group }: Session, name: string): Promise<TaskView> {
  return client.call<TaskView>("GET", taskPath(name, group));
}

const LOOK_MS = 100;

/** undefined: there is no such task. @throws ClientError */
export async function taskIfThere(session: Session, name: string): Promise<TaskView | undefined> {
  try {
    return await taskOf(session, name);
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return undefined;
    throw error;
  }
}

/** Waits until each task was removed completely. @throws ClientError */
export function untilGone(session: Session, ids: readonly string[]): Promise<void> {
  return untilEach(
    session,
    ids,
    ({ type }) => type === "removed",
    (task) => task === undefined,
  );
}

/** Waits until each task has stopped, or is gone. @throws ClientError */
export function untilStopped(session: Session, ids: readonly string[]): Promise<void> {
  return untilEach(
    session,
    ids,
    ({ type }) => type === "task" || type === "removed",
    (task) => task === undefined || task.known === "STOPPED",
  );
}

/** Waits until `isDone` is true of each task; undefined: it is gone. `tells`: the events of a task after which it is looked at. @throws ClientError */
async function untilEach(
  session: Session,
  ids: readonly string[],
  tells: (event: EngineEvent) => boolean,
  isDone: (task: TaskView | undefined) => boolean,
): Promise<void> {
  const { client, sockets } = session;
  const open = new Set(ids);
  const look = async (some: Iterable<string>) => {
    for (const id of [...some]) if (isDone(await taskIfThere(session, id))) open.delete(id);
    return open.size === 0;
  };
  const { lastSequence } = await client.call<{ lastSequence: number }>("GET", "/v1/node");
  // What is not done now is told when it is.
  if (await look(open)) return;
  try {
    for await (const told of followEvents(sockets, lastSequence)) {
      if ("gap" in told) {
        if (await look(open)) return;
        continue;
      }
      const id = "task" in told.event ? told.event.task : null;
      if (id !== null && open.has(id) && tells(told.event) && (await look([id]))) return;
    }
  } catch (error) {
    // There are as many readers of events as the daemon takes.
    if (!(error instanceof ClientError && error.code === "refused")) throw error;
    while (!(await look(open))) await sleep(LOOK_MS);
  }
}

/** Tasks of the session's group. @throws ClientError */
export async function tasksOf({ client, group }: Session): Promise<readonly TaskView[]> {
  const { tasks } = await client.call<{ tasks: TaskView[] }>("GET", "/v1/tasks");
  return tasks.filter((task) => task.group === group);
}

/** Orphans of the session's group, and orphans without a group. @throws ClientError */
export async function orphansOf({ client, group }: Session): Promise<readonly OrphanView[]> {
  const { orphans } = await client.call<{ orphans: OrphanView[] }>("GET", "/v1/orphans");
  return orphans.filter((one) => one.group === null || one.group === group);
}
