/** Requests for pods. */
import type { TaskDetail, TaskView } from "../engine/index.ts";
import type { Session } from "./session.ts";
import { inTask } from "./tasks.ts";

/** The pod with its status; undefined when the task was not translated from a pod. @throws ClientError unknown-task */
export async function podNamed(session: Session, task: TaskView) {
  const detail = await session.client.call<TaskDetail>("GET", inTask(session, task.id, "detail"));
  const { podOf } = await import("../pod/index.ts");
  return podOf({ task, detail });
}
