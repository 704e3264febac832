/** Converts a task back to its pod, with the status that Kubernetes would show. */
import type { PodStatus } from "kubernetes-types/core/v1.js";
import { qosClass, resourcesOf } from "../resources.ts";
import { uidOf } from "../uid.ts";
import { conditionsOf } from "./conditions.ts";
import { containerStatus, hasSucceeded } from "./container-status.ts";
import { type PodFacts, parsed, podFacts, type TaskFacts } from "./facts.ts";
import { instant } from "./instant.ts";

export type { PodStatus };

/** undefined: the task was not made from a pod. Fields of the user stay the same; metadata and status are filled in. */
export function podOf(given: TaskFacts): (Readonly<Record<string, unknown>> & { readonly status: PodStatus }) | undefined {
  const facts = podFacts(given);
  if (facts === undefined) return undefined;
  const { document, pod, task } = facts;
  const metadata = {
    namespace: "default",
    ...(document["metadata"] as object),
    uid: uidOf(pod.metadata),
    creationTimestamp: instant(task.createdMs),
    generation: task.generation,
  };
  return { ...document, metadata, status: statusOf(facts) };
}

function statusOf(facts: PodFacts): PodStatus {
  const { containers, task } = facts;
  const statuses = (isInit: boolean) =>
    containers.filter(({ role }) => (role !== "main") === isInit).map((one) => containerStatus(one, facts));
  const init = statuses(true);
  const phase = phaseOf(facts);
  return {
    phase,
    conditions: conditionsOf(facts),
    ...(phase === "Failed" && task.reason !== null ? { message: task.reason } : {}),
    ...(limitReason(facts) === undefined ? {} : { reason: limitReason(facts)! }),
    ...addressesOf(facts),
    ...(task.admission === "waiting" ? {} : { startTime: instant(task.createdMs) }),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: statuses(false),
    qosClass: qosClass(
      containers.map(({ container }) => resourcesOf(container.resources)),
      facts.pod.spec.resources === undefined ? undefined : resourcesOf(facts.pod.spec.resources),
    ),
  };
}

/** A pod in the host's network has the addresses of the host. A pod with only loopback, or without a network at the moment, has none. */
function addressesOf({ task, pod, hostAddresses }: PodFacts): Pick<PodStatus, "hostIP" | "hostIPs" | "podIP" | "podIPs"> {
  if (task.admission === "waiting") return {};
  const [hostIP] = hostAddresses;
  const own = task.addresses.map((address) => address.replace(/\/\d+$/, ""));
  const of = pod.spec.hostNetwork && task.known !== "STOPPED" ? hostAddresses : own;
  return {
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostAddresses.map((ip) => ({ ip })) }),
    ...(of[0] === undefined ? {} : { podIP: of[0], podIPs: of.map((ip) => ({ ip })) }),
  };
}

/** Why the engine has stopped the pod: it used too much disk space, or too much time. undefined: for another reason, or not at all. */
function limitReason({ detail: { reason } }: Pick<PodFacts, "detail">): "Evicted" | "DeadlineExceeded" | undefined {
  return reason?.code === "Evicted" || reason?.code === "DeadlineExceeded" ? reason.code : undefined;
}

/** Computes the phase of a pod. */
type Phase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

/**
 * Succeeded: every container has exited with 0. Sidecars do not count, because the engine stops them. Source: Kubernetes, "Pod Lifecycle", "Pod
 * phase".
 */
function phaseOf({ task, detail, containers }: PodFacts): Phase {
  // A pod that was stopped because of a limit has failed, whatever exit codes its containers returned for the signal.
  if (task.known === "STOPPED" && limitReason({ detail }) !== undefined) return "Failed";
  const main = containers.filter(({ role }) => role === "main");
  if (task.known === "STOPPED") {
    return containers.filter(({ role }) => role !== "sidecar").every(hasSucceeded) ? "Succeeded" : "Failed";
  }
  return main.length > 0 && main.every(({ view }) => view.startedMs !== null) ? "Running" : "Pending";
}

/** The CronJob with its status. undefined: the task was not made from a CronJob, or the caller may not see the document. */
export function cronJobOf({ task, detail }: Pick<TaskFacts, "task" | "detail">): Readonly<Record<string, unknown>> | undefined {
  const { document } = (detail.spec["schedule"] ?? {}) as { readonly document?: string | null };
  if (task.schedule === undefined || typeof document !== "string") return undefined;
  const written = parsed(document) as Readonly<Record<string, unknown>> | undefined;
  if (written?.["kind"] !== "CronJob") return undefined;
  const { runs, lastMs } = task.schedule;
  const succeeded = runs.findLast(({ state }) => state === "succeeded");
  const metadata = { namespace: "default", ...(written["metadata"] as { name: string }) };
  return {
    ...written,
    metadata: { ...metadata, uid: uidOf(metadata), creationTimestamp: instant(task.createdMs) },
    status: {
      active: runs.filter(({ state }) => state === "active").flatMap(({ tasks }) => tasks.map((name) => ({ kind: "Pod", name }))),
      ...(lastMs === null ? {} : { lastScheduleTime: instant(lastMs) }),
      ...(succeeded?.endedMs ? { lastSuccessfulTime: instant(succeeded.endedMs) } : {}),
    },
  };
}

/** Formats a pod or task whose state is unknown because the engine does not answer. */

/** It has no `kind`, because nobody knows whether the name is that of a pod. */
interface UnknownObject {
  readonly metadata: { readonly name: string };
  readonly status: PodStatus;
}

/** Source: Kubernetes, "Pod phase": Unknown, the state of the pod could not be obtained. @param message why */
export function unknownObject(name: string, message: string): UnknownObject {
  return { metadata: { name }, status: { phase: "Unknown", reason: "EngineUnreachable", message } };
}
