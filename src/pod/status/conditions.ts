/** Computes the conditions of a pod from the times that the engine recorded. */
import type { PodCondition } from "kubernetes-types/core/v1.js";
import { hasSucceeded, isReady, isStarted } from "./container-status.ts";
import type { ContainerFacts, PodFacts } from "./facts.ts";
import { instant } from "./instant.ts";

/** Of a pod that has only loopback, because the host cannot make its network. Kubernetes starts no such pod, so that it has no word for it. */
const LOOPBACK_ONLY = "runt.dev/LoopbackOnly";

export function conditionsOf({ task, containers }: PodFacts): PodCondition[] {
  const init = containers.filter(({ role }) => role !== "main");
  const isScheduled = task.admission !== "waiting";
  const isOver = task.known === "STOPPED";
  const isInitialized = init.every((one) =>
    one.role === "init" ? hasSucceeded(one) : isStarted(one) || (isOver && one.view.startedMs !== null),
  );
  const lasting = containers.filter(({ role }) => role !== "init");
  const unready = lasting.filter((one) => !isReady(one)).map(({ container }) => container.name);
  const isAllReady = isScheduled && unready.length === 0;
  const ready = isAllReady
    ? { since: latest(lasting.flatMap(readySince)) }
    : isOver
      ? { since: latest(lasting.map(({ view }) => view.stoppedMs)), reason: "PodCompleted" }
      : { reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
  return [
    ...(task.networkLacks === undefined
      ? []
      : [condition(LOOPBACK_ONLY, true, { reason: "NetworkUnavailable", message: task.networkLacks })]),
    condition("PodScheduled", isScheduled, {
      since: task.createdMs,
      ...(isScheduled ? {} : { reason: "Unschedulable", message: (task.waiting ?? []).join("; ") }),
    }),
    condition("Initialized", isInitialized, {
      since: isInitialized
        ? (latest(init.map(({ view, role }) => (role === "init" ? view.stoppedMs : view.startedMs))) ?? task.createdMs)
        : undefined,
      ...(isInitialized ? {} : { reason: "ContainersNotInitialized" }),
    }),
    condition("ContainersReady", isAllReady, ready),
    condition("Ready", isAllReady, ready),
  ];
}

interface Facts {
  /** Absent when the start was not recorded. */
  readonly since?: number | undefined;
  readonly reason?: string;
  readonly message?: string;
}

function condition(type: string, holds: boolean, { since, reason, message }: Facts): PodCondition {
  return {
    type,
    status: holds ? "True" : "False",
    ...(since === undefined ? {} : { lastTransitionTime: instant(since) }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** Times at which the container was started and at which the checks succeeded that decide whether it is ready. */
function readySince({ view, detail, container }: ContainerFacts): (number | null)[] {
  const { postStart, startup, health } = detail;
  const checks = [postStart, startup, container.readinessProbe === undefined ? null : health];
  return [view.startedMs, ...checks.map((one) => one?.sinceMs ?? null)];
}

function latest(times: readonly (number | null)[]): number | undefined {
  const known = times.filter((one) => one !== null);
  return known.length === 0 ? undefined : Math.max(...known);
}
