/** Asking for tasks. */
import type { TaskView } from "../engine/index.ts";
import type { Session } from "./session.ts";

export function taskPath(name: string, group: string): string {
  return `/v1/tasks/${encodeURIComponent(name)}?group=${encodeURIComponent(group)}`;
}

/** @throws ClientError unknown-task */
export function taskOf({ client, group }: Session, name: string): Promise<TaskView> {
  return client.call<TaskView>("GET", taskPath(name, group));
}

/** Of the session's group. @throws ClientError */
export async function tasksOf({ client, group }: Session): Promise<readonly TaskView[]> {
  const { tasks } = await client.call<{ tasks: TaskView[] }>("GET", "/v1/tasks");
  return tasks.filter((task) => task.group === group);
}
