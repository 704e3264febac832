/** Whether a task has become what its file says: for `apply --wait`. Pure. */
import type { ContainerView, TaskDetail, TaskView } from "../engine/index.ts";
import type { PodStatus } from "../pod/index.ts";

export interface Readiness {
  /** failed: it has ended otherwise than its file says, and does not start again by itself. */
  readonly state: "ready" | "waits" | "failed";
  /** What it waits for, or why it failed. */
  readonly why: string;
}

const READY: Readiness = { state: "ready", why: "" };
const waits = (why: string): Readiness => ({ state: "waits", why });
const failed = (why: string): Readiness => ({ state: "failed", why });

/**
 * Ready is a task whose containers run and whose checks have succeeded, a pod that Kubernetes would call Ready, and a task that has succeeded.
 * @param task undefined: it was removed
 */
export function readinessOf(task: TaskView | undefined, detail: TaskDetail | undefined, pod?: PodStatus): Readiness {
  if (task === undefined || detail === undefined) return failed("it was removed");
  if (task.known === "STOPPED") return hasSucceeded(task, detail) ? READY : failed(task.reason ?? "it has stopped");
  if (task.waiting !== null) return waits(task.waiting.join("; "));
  const condition = pod?.conditions?.find(({ type }) => type === "Ready");
  if (condition !== undefined)
    return condition.status === "True" ? READY : waits(condition.message ?? condition.reason ?? "the pod is not ready");
  const ended = task.containers.find((one) => hasFailed(one) && !startsAgain(detail, one.name));
  if (ended !== undefined) return failed(missingOf(ended, detail)!);
  const open = task.containers.flatMap((one) => missingOf(one, detail) ?? []);
  return open.length === 0 ? READY : waits(open.join("; "));
}

/** As the engine has it (model/success.ts): it ended by itself, and each container that was not stopped because of that with 0. */
function hasSucceeded({ containers }: TaskView, detail: TaskDetail): boolean {
  if (detail.reason?.code !== "EssentialContainerExited" && detail.reason?.code !== "ContainerExited") return false;
  return containers.every(
    ({ name, type, exit }) => type === "namespacePause" || exit?.code === 0 || partOf(detail, name)?.reason?.code === "TaskStopped",
  );
}

function hasFailed({ type, known, exit }: ContainerView): boolean {
  return type !== "namespacePause" && known === "STOPPED" && exit?.code !== 0;
}

/** Its restart policy is in the spec (restart); without one the task goes on without it if it is not essential. */
function startsAgain({ spec }: TaskDetail, name: string): boolean {
  const containers = spec["containers"] as readonly { readonly name: string; readonly restart?: object | null }[];
  return Boolean(containers.find((one) => one.name === name)?.restart);
}

/** undefined: the container is ready. */
function missingOf({ name, type, known, exit, reason }: ContainerView, detail: TaskDetail): string | undefined {
  if (type === "namespacePause") return undefined;
  if (known === "STOPPED") return exit?.code === 0 ? undefined : `${name} has stopped${reason === null ? "" : `: ${reason}`}`;
  if (known !== "RUNNING" && known !== "RESOURCES_PROVISIONED") return `${name} is ${known}`;
  const part = partOf(detail, name);
  const checks = { postStart: part?.postStart, startupCheck: part?.startup, healthCheck: part?.health };
  const [open] = Object.entries(checks).filter(([, check]) => check && check.status !== "HEALTHY");
  return open && `${open[0]} of ${name} is ${open[1]!.status}`;
}

function partOf({ containers }: TaskDetail, name: string) {
  return containers.find((one) => one.name === name);
}
