/** Formats the status of one container as Kubernetes does. */
import type { ContainerState, ContainerStateTerminated, ContainerStatus } from "kubernetes-types/core/v1.js";
import { ROOTFS } from "../manifest/container.ts";
import type { ContainerFacts, PodFacts } from "./facts.ts";
import { instant } from "./instant.ts";

/** The kubelet's exit code and reason for a container whose end was not observed. */
const NOBODY_SAW = { exitCode: 137, reason: "ContainerStatusUnknown" } as const;
/** containerd's exit code and reason for a program that cannot be started. */
const NOT_STARTED = { exitCode: 128, reason: "StartError" } as const;

/** Maximum size in bytes of the messages of all containers of a pod together. Source: Kubernetes, "Determine the Reason for Pod Failure". */
const MESSAGES = 12 * 1024;

export function containerStatus(facts: ContainerFacts, { pod, containers }: PodFacts): ContainerStatus {
  const { container, view } = facts;
  const state = shortened(stateOf(facts, containers), containers.length);
  const before = view.known === "STOPPED" || view.restarts === 0 ? undefined : terminated(facts);
  return {
    name: container.name,
    state,
    ...(before === undefined ? {} : { lastState: shortened({ terminated: before }, containers.length) }),
    ready: isReady(facts),
    started: isStarted(facts),
    restartCount: view.restarts,
    image: container.image ?? pod.metadata.annotations?.[`${ROOTFS}${container.name}`] ?? "",
    imageID: view.image?.digest ?? "",
    ...(view.startedMs === null ? {} : { containerID: `runt://${view.id}` }),
  };
}

export function isUp({ view }: ContainerFacts): boolean {
  return view.known === "RUNNING" || view.known === "RESOURCES_PROVISIONED";
}

/** An init container is ready when it has exited with 0. */
export function isReady(facts: ContainerFacts): boolean {
  if (facts.role === "init") return hasSucceeded(facts);
  // Kubernetes ignores the health check of an image.
  const { health } = facts.container.readinessProbe === undefined ? { health: null } : facts.detail;
  return isStarted(facts) && (health === null || health.status === "HEALTHY");
}

/** Whether the container runs and its postStart hook and startup probe, if any, have succeeded. */
export function isStarted(facts: ContainerFacts): boolean {
  const { postStart, startup } = facts.detail;
  return isUp(facts) && [postStart, startup].every((one) => one === undefined || one.status === "HEALTHY");
}

export function hasSucceeded({ view }: ContainerFacts): boolean {
  return view.known === "STOPPED" && view.exit?.code === 0;
}

function stateOf(facts: ContainerFacts, all: readonly ContainerFacts[]): ContainerState {
  const { view, detail, role } = facts;
  if (isUp(facts)) return { running: view.startedMs === null ? {} : { startedAt: instant(view.startedMs) } };
  if (view.known === "STOPPED") {
    const end = terminated(facts);
    if (end !== undefined) return { terminated: end };
    return { waiting: { reason: role === "main" ? "PodInitializing" : "ContainerCreating", ...message(view.reason) } };
  }
  if (view.restarts > 0 && view.known === "PULLED") {
    return { waiting: { reason: "CrashLoopBackOff", message: `it is started again; ${view.restarts} times so far` } };
  }
  const isBehindInit = all.slice(0, all.indexOf(facts)).some((one) => one.role === "init" && !hasSucceeded(one));
  return { waiting: { reason: isBehindInit ? "PodInitializing" : "ContainerCreating", ...message(detail.reason?.text) } };
}

/** undefined: the container has not run, and no start has failed. */
export function terminated({ view, detail }: ContainerFacts): ContainerStateTerminated | undefined {
  const { exit, stoppedMs } = view;
  const { id, startedMs } = view.lastRun ?? view;
  const times = {
    ...(startedMs === null ? {} : { startedAt: instant(startedMs), containerID: `runt://${id}` }),
    ...(exit === null ? {} : { finishedAt: instant(exit.endedWallMs) }),
    ...(exit === null && stoppedMs !== null ? { finishedAt: instant(stoppedMs) } : {}),
  };
  const said = message(detail.endMessage);
  if (exit?.oomKilled) return { exitCode: exit.code ?? 137, ...signal(exit.signal), reason: "OOMKilled", ...said, ...times };
  if (exit !== null && exit.code !== null) {
    return { exitCode: exit.code, ...signal(exit.signal), reason: exit.code === 0 ? "Completed" : "Error", ...said, ...times };
  }
  if (startedMs !== null || exit !== null) return { ...NOBODY_SAW, ...times, ...message(view.reason), ...said };
  const isTried = detail.reason !== null && ["PullFailed", "CreateFailed", "StartFailed"].includes(detail.reason.code);
  return isTried ? { ...NOT_STARTED, ...times, ...message(view.reason) } : undefined;
}

/** Shortens the message, so that all containers of the pod get the same share of the limit. */
function shortened(state: ContainerState, containers: number): ContainerState {
  const { terminated: end } = state;
  if (end?.message === undefined) return state;
  const bytes = Buffer.from(end.message).subarray(0, Math.floor(MESSAGES / containers));
  return { ...state, terminated: { ...end, message: bytes.toString() } };
}

function signal(number: number | null): { readonly signal?: number } {
  return number === null ? {} : { signal: number };
}

function message(text: string | null | undefined): { readonly message?: string } {
  return text === null || text === undefined ? {} : { message: text };
}
