/** Requests for tasks. */
import type { OrphanView, TaskDetail, TaskView } from "../engine/index.ts";
import { cronJobOf, type HostFacts, podOf } from "../pod/index.ts";
import { ClientError } from "./client.ts";
import type { Session } from "./session.ts";

/** @param action the last part of the path */
export function taskPath(name: string, group: string, action?: "stop" | "start" | "restart" | "rollback"): string {
  const below = action === undefined ? "" : `/${action}`;
  return `/v1/tasks/${encodeURIComponent(name)}${below}?group=${encodeURIComponent(group)}`;
}

/** Path of a request about a task, with its query. Undefined parameters are left out. */
export function inTask({ group }: Session, name: string, what: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const pairs = Object.entries({ group, ...query }).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}=${encodeURIComponent(value)}`,
  );
  return `/v1/tasks/${encodeURIComponent(name)}/${what}?${pairs.join("&")}`;
}

/** @throws ClientError unknown-task */
export function taskOf({ client, group }: Session, name: string): Promise<TaskView> {
  return client.call<TaskView>("GET", taskPath(name, group));
}

/** undefined: there is no such task. @throws ClientError */
export async function taskIfThere(session: Session, name: string): Promise<TaskView | undefined> {
  try {
    return await taskOf(session, name);
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return undefined;
    throw error;
  }
}

/** Tasks of the session's group. @throws ClientError */
export async function tasksOf({ client, group }: Pick<Session, "client" | "group">): Promise<readonly TaskView[]> {
  return (await allTasks(client)).filter((task) => task.group === group);
}

/** Tasks of every group, by id. @throws ClientError */
export async function allTasks(client: Session["client"]): Promise<readonly TaskView[]> {
  return (await client.call<{ tasks: TaskView[] }>("GET", "/v1/tasks")).tasks;
}

/** Orphans of every group, and orphans without a group. @throws ClientError */
export async function allOrphans(client: Session["client"]): Promise<readonly OrphanView[]> {
  return (await client.call<{ orphans: OrphanView[] }>("GET", "/v1/orphans")).orphans;
}

/** The annotation with the document of a pod. */
const DOCUMENT = "runt.dev/pod";

/** The pod or CronJob with its status; undefined if the task was made from neither. @throws ClientError unknown-task */
export async function objectNamed(session: Session, task: TaskView) {
  const detail = await session.client.call<TaskDetail>("GET", inTask(session, task.id, "detail"));
  const cronJob = cronJobOf({ task, detail });
  if (cronJob !== undefined) return cronJob;
  const annotations = detail.spec["annotations"] as Readonly<Record<string, unknown>> | undefined;
  return annotations?.[DOCUMENT] === undefined ? undefined : podShown(session, task, detail);
}

/** The pod with its status, for a task whose detail was already requested. */
export async function podShown({ client }: Session, task: TaskView, detail: TaskDetail) {
  const { host } = await client.call<{ readonly host: HostFacts }>("GET", "/v1/node");
  return podOf({ task, detail, hostAddresses: host.addresses });
}
