/** Applies the result of a container's action. */
import { changeContainer, containerOf, stopContainer, stopTask } from "./change-record.ts";
import { checkOf, delayChecks, UNKNOWN_HEALTH } from "./checks.ts";
import { endContainer } from "./ending.ts";
import type { TaskEvent } from "./event.ts";
import { retryDelayMs } from "./host.ts";
import { type ReasonCode, reason } from "./reason.ts";
import type { ContainerRecord, ImageRecord, TaskRecord } from "./record.ts";
import { type ContainerStatus, isFurther } from "./status.ts";
import { after, type Instant } from "./time.ts";

type Result = Extract<TaskEvent, { type: "result" }>;

const FAILED: Readonly<Partial<Record<ContainerStatus, readonly [ReasonCode, string]>>> = {
  PULLED: ["PullFailed", "its root file system could not be had"],
  CREATED: ["CreateFailed", "could not be created"],
  RUNNING: ["StartFailed", "could not be started"],
};

/** Ignored unless the result belongs to this incarnation and to the action in flight. */
export function applyResult(record: TaskRecord, event: Result): TaskRecord {
  const container = containerOf(record, event.container);
  if (container?.generation !== event.generation || container.applied !== event.target) return record;
  const settled: ContainerRecord = { ...container, applied: null };
  const changed = changeContainer(record, container.name, settled);
  if (event.error !== undefined)
    return event.target === "STOPPED" ? stopFailed(changed, settled, event) : stepFailed(changed, settled, event);
  if (event.target === "STOPPED") return endContainer(changed, settled, event.exit, event.at);
  if (event.image !== undefined) return pulled(changed, settled, event.image, event.at);
  return advance(changed, settled, event.target, event.at);
}

/** Records the image. From now on the health check of the image applies, if the task sets none. */
function pulled(record: TaskRecord, container: ContainerRecord, image: ImageRecord, at: Instant): TaskRecord {
  const advanced = changeContainer(advance(record, container, "PULLED", at), container.name, { image });
  const isChecked = container.health === null && checkOf(advanced, container.name, "health") !== undefined;
  const next = isChecked ? changeContainer(advanced, container.name, { health: UNKNOWN_HEALTH }) : advanced;
  return { ...next, pulls: record.pulls && { ...record.pulls, stoppedAt: at } };
}

/** Never moves the status backwards: a later status that was observed in the meantime stays. */
export function advance(record: TaskRecord, container: ContainerRecord, status: ContainerStatus, at: Instant): TaskRecord {
  if (!isFurther(status, container.known)) return record;
  const isStart = isFurther(status, "CREATED") && container.known !== "RUNNING";
  return changeContainer(record, container.name, {
    known: status,
    blockedSince: null,
    ...(isStart ? { startedAt: at, stoppedAt: null, ...delayChecks(record, container, at) } : {}),
  });
}

function stepFailed(record: TaskRecord, container: ContainerRecord, { target, error, at }: Result): TaskRecord {
  const [code, text] = FAILED[target]!;
  const why = reason(code, `container ${container.name} ${text}: ${error!.message}`);
  const told = target === "PULLED" ? { ...record, pulls: record.pulls && { ...record.pulls, stoppedAt: at } } : record;
  const unsure = error!.isOutcomeUnknown ? changeContainer(told, container.name, { isUnsure: true }) : told;
  const stopped = stopContainer(unsure, container.name, why);
  return target === "PULLED" && error!.stops !== "container" ? stopTask(stopped, why) : stopped;
}

function stopFailed(record: TaskRecord, container: ContainerRecord, { error, at }: Result): TaskRecord {
  const failures = container.stop.failures + 1;
  return changeContainer(record, container.name, {
    stop: { failures, nextTry: after(at, retryDelayMs(failures)), error: error!.message },
    reason: container.reason ?? reason("StopFailed", `container ${container.name} could not be stopped: ${error!.message}`),
  });
}
