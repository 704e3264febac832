/** Formats the status of a pod for interLink. */
import type { TaskDetail, TaskView } from "../../engine/index.ts";
import { type PodStatus, podOf } from "../../pod/index.ts";

type Status = NonNullable<PodStatus["containerStatuses"]>[number];

/** undefined: the task was not made from a pod. */
export function statusAnswer(task: TaskView, detail: TaskDetail, hostAddresses: readonly string[]) {
  const pod = podOf({ task, detail, hostAddresses });
  if (pod === undefined) return undefined;
  const { name = "", namespace = "", uid = "" } = pod["metadata"] as Readonly<Record<string, string>>;
  return {
    name,
    namespace,
    uid,
    JID: task.id,
    containers: (pod.status.containerStatuses ?? []).map(withBothNames),
    initContainers: (pod.status.initContainerStatuses ?? []).map(withBothNames),
  };
}

/** Adds the field names of interLink's published document to those of Kubernetes. */
function withBothNames(status: Status) {
  const { terminated, running } = status.state ?? {};
  return {
    ...status,
    state: {
      ...status.state,
      ...(terminated === undefined ? {} : { terminated: { ...terminated, exit_code: terminated.exitCode } }),
      ...(running === undefined
        ? {}
        : { running: { ...running, ...(running.startedAt === undefined ? {} : { started_at: running.startedAt }) } }),
    },
  };
}
