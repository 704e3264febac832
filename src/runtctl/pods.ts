/** Requests for pods. */
import type { TaskDetail, TaskView } from "../engine/index.ts";
import { type HostFacts, podOf } from "../pod/index.ts";
import type { Session } from "./session.ts";
import { inTask } from "./tasks.ts";

/** The annotation with the document of a pod. */
const DOCUMENT = "runt.dev/pod";

/** The pod with its status; undefined if the task was not made from a pod. @throws ClientError unknown-task */
export async function podNamed(session: Session, task: TaskView) {
  const detail = await session.client.call<TaskDetail>("GET", inTask(session, task.id, "detail"));
  const annotations = detail.spec["annotations"] as Readonly<Record<string, unknown>> | undefined;
  return annotations?.[DOCUMENT] === undefined ? undefined : podShown(session, task, detail);
}

/** Like podNamed, for a task whose detail was already requested. */
export async function podShown({ client }: Session, task: TaskView, detail: TaskDetail) {
  const { host } = await client.call<{ readonly host: HostFacts }>("GET", "/v1/node");
  return podOf({ task, detail, hostAddresses: host.addresses });
}
