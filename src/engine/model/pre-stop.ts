/** The preStop hook of a container. It runs before any process of the task gets a signal, and at most once, even across restarts of the daemon. */
import type { Action } from "./action.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import type { DecisionContext } from "./host.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import type { Instant } from "./time.ts";

export function runPreStops(
  record: TaskRecord,
  now: Instant,
  host: DecisionContext,
): { readonly record: TaskRecord; readonly actions: readonly Action[] } {
  const due = record.containers.filter((one) => one.preStop === "waiting" && isPending(record, one));
  return {
    record: due.reduce(
      (state, { name }) => changeContainer(state, name, { preStop: "running", preStopRun: { startedAt: now, tookMs: null } }),
      record,
    ),
    actions: due.map((container) => {
      const { name, generation, runtimeId } = container;
      const { withinStopTimeout, ...hook } = specOf(record, name)!.preStop!;
      const timeout = withinStopTimeout ? wholeGraceMs(record, container, host) : hook.timeout;
      return { type: "preStop", container: name, generation, runtimeId, hook: { ...hook, timeout } };
    }),
  };
}

/** Whether the container's stop must wait for a preStop hook: its own, or any hook of the task if the whole task stops. */
export function isHeldByPreStop(record: TaskRecord, container: ContainerRecord): boolean {
  return isPending(record, container) || (record.desired === "STOPPED" && record.containers.some((one) => isPending(record, one)));
}

function isPending(record: TaskRecord, container: ContainerRecord): boolean {
  const { name, known, desired, isRestartAsked, preStop } = container;
  const isUp = known === "RUNNING" || known === "RESOURCES_PROVISIONED";
  return preStop !== "done" && isUp && (desired === "STOPPED" || isRestartAsked) && specOf(record, name)?.preStop !== undefined;
}

export function applyPreStopped(record: TaskRecord, event: Extract<TaskEvent, { type: "preStopped" }>): TaskRecord {
  const container = containerOf(record, event.container);
  return container?.generation === event.generation ? changeContainer(record, event.container, preStopEnded(container, event.at)) : record;
}

export function preStopEnded({ preStopRun }: ContainerRecord, at: Instant): Pick<ContainerRecord, "preStop" | "preStopRun"> {
  if (!preStopRun || preStopRun.tookMs !== null) return { preStop: "done" };
  const { startedAt } = preStopRun;
  const tookMs = startedAt.bootId === at.bootId ? Math.max(0, at.bootMs - startedAt.bootMs) : 0;
  return { preStop: "done", preStopRun: { startedAt, tookMs } };
}

// Computes how long a container may take to end after its stop signal.

/** The kubelet's minimum for a container whose preStop hook has used up the time to stop. */
const LEAST_MS = 2000;

/** The time before the preStop hook is subtracted from it. A container that is stopped because a check has failed may have a time of that check. */
function wholeGraceMs(record: TaskRecord, container: ContainerRecord, { options }: DecisionContext): number {
  const spec = specOf(record, container.name);
  // The pause container handles no signals.
  if (spec === undefined) return 0;
  const failed = (["startup", "liveness"] as const).find((kind) => container[kind]?.status === "UNHEALTHY");
  const ofCheck = record.desired === "STOPPED" || failed === undefined ? undefined : spec[`${failed}Check`]?.stopTimeout;
  return ofCheck ?? spec.stopTimeout ?? options.stopTimeoutMs;
}

export function graceMs(record: TaskRecord, container: ContainerRecord, host: DecisionContext): number {
  const whole = wholeGraceMs(record, container, host);
  const isPart = specOf(record, container.name)?.preStop?.withinStopTimeout === true;
  const tookMs = container.preStopRun?.tookMs ?? null;
  return isPart && tookMs !== null ? Math.max(LEAST_MS, whole - tookMs) : whole;
}
