/** Computes the phase of a pod. */
import { hasSucceeded } from "./container-status.ts";
import type { PodFacts } from "./facts.ts";

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

/** Succeeded: every container has exited with 0. Sidecars do not count, because the engine stops them. Source: Kubernetes, "Pod Lifecycle", "Pod phase". */
export function phaseOf({ task, detail, containers }: PodFacts): Phase {
  // An evicted pod has failed, whatever exit codes its containers returned for the signal.
  if (task.known === "STOPPED" && detail.reason?.code === "Evicted") return "Failed";
  const main = containers.filter(({ role }) => role === "main");
  if (task.known === "STOPPED") {
    return containers.filter(({ role }) => role !== "sidecar").every(hasSucceeded) ? "Succeeded" : "Failed";
  }
  return main.length > 0 && main.every(({ view }) => view.startedMs !== null) ? "Running" : "Pending";
}
