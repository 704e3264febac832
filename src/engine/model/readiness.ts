/** Whether a task has become what its spec says. */
import { renderReason } from "./reason.ts";
import type { ContainerRecord, TaskRecord } from "./record.ts";

export interface Readiness {
  /** failed: it has ended otherwise than its spec says, and does not start again by itself. */
  readonly state: "ready" | "waits" | "failed";
  /** What it waits for, or why it failed; "" if it is ready. */
  readonly why: string;
}

const READY: Readiness = { state: "ready", why: "" };
const waits = (why: string): Readiness => ({ state: "waits", why });
const failed = (why: string): Readiness => ({ state: "failed", why });

/** Ready is a task whose containers run and whose checks have succeeded, and a task that has succeeded. */
export function readinessOf(record: TaskRecord): Readiness {
  const { known, desired, reason, waiting, containers } = record;
  if (record.spec.schedule !== undefined && desired === "RUNNING") return READY;
  if (known === "STOPPED") return hasSucceeded(record) ? READY : failed(reason === null ? "it has stopped" : renderReason(reason));
  // Whether it has succeeded is known when the last container has stopped.
  if (desired === "STOPPED") return waits("it is being stopped");
  if (waiting !== null) return waits(waiting.missing.join("; "));
  const ended = containers.find(hasFailed);
  if (ended !== undefined) return failed(missingOf(ended)!);
  const open = containers.flatMap((one) => missingOf(one) ?? []);
  return open.length === 0 ? READY : waits(open.join("; "));
}

/** A container that is started again by its policy is not STOPPED meanwhile (restart.ts). */
function hasFailed({ type, known, ...end }: ContainerRecord): boolean {
  return type !== "namespacePause" && known === "STOPPED" && !isSuccess(end);
}

/** A program that was stopped because a check or a hook has failed may exit with 0, because it was asked to end. */
function isSuccess({ exit, reason }: Pick<ContainerRecord, "exit" | "reason">): boolean {
  return exit?.code === 0 && reason?.code !== "CheckFailed";
}

/** undefined: the container is ready. */
function missingOf({ name, type, known, exit, reason, restartAt, ...checks }: ContainerRecord): string | undefined {
  if (type === "namespacePause") return undefined;
  if (known === "STOPPED")
    return isSuccess({ exit, reason }) ? undefined : `${name} has stopped${reason === null ? "" : `: ${renderReason(reason)}`}`;
  if (restartAt !== null && known === "PULLED") return `${name} has ended, and is to start again`;
  if (known !== "RUNNING" && known !== "RESOURCES_PROVISIONED") return `${name} is ${known}`;
  const { postStart, startup, health } = checks;
  const [open] = Object.entries({ postStart, startupCheck: startup, healthCheck: health }).filter(
    ([, check]) => check && check.status !== "HEALTHY",
  );
  return open && `${open[0]} of ${name} is ${open[1]!.status}`;
}

// Whether a task has succeeded.

/** Whether the task has ended by itself, and every container that was not stopped because of that has exited with 0, and not for a failed check. An unknown exit status is no success. */
export function hasSucceeded({ known, reason, containers }: TaskRecord): boolean {
  if (known !== "STOPPED" || (reason?.code !== "EssentialContainerExited" && reason?.code !== "ContainerExited")) return false;
  return containers.every((one) => one.type === "namespacePause" || one.reason?.code === "TaskStopped" || isSuccess(one));
}
