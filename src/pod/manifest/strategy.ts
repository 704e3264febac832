/** Translates how the pods of a workload are replaced. Nothing returns by itself, as in Kubernetes: a rollout that has failed is paused. */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import { MOST_READY, type WorkloadInput } from "../schema/workload.ts";

type Update = NonNullable<TaskInput["update"]>;
type SpecOf<Kind extends WorkloadInput["kind"]> = Extract<WorkloadInput, { kind: Kind }>["spec"];

/** Containers of a pod may restart until it is ready. Its preStop hook and its grace period are the time for its connections. */
const AS_KUBERNETES = { monitor: 0, onFailure: "pause", drain: 0 } as const;

/** Source: Kubernetes, DeploymentStrategy; ResolveFenceposts: shares of a surge are rounded up, those of missing pods down, and one of both is at least 1. */
export function updateOfDeployment({ strategy, replicas, minReadySeconds, progressDeadlineSeconds }: SpecOf<"Deployment">): Update {
  const { maxSurge = "25%", maxUnavailable = "25%" } = strategy.rollingUpdate ?? {};
  const surge = shareOf(maxSurge, replicas, Math.ceil);
  const times = { ...AS_KUBERNETES, minReady: minReadySeconds, readyWithin: Math.min(MOST_READY, progressDeadlineSeconds) };
  if (strategy.type === "Recreate") return { ...times, order: "stop-first", parallelism: 0 };
  // With pods in addition none is missing.
  if (surge > 0) return { ...times, order: "start-first", parallelism: surge };
  return { ...times, order: "stop-first", parallelism: Math.max(1, shareOf(maxUnavailable, replicas, Math.floor)) };
}

/** Source: Kubernetes, "StatefulSet", "Rolling updates": from the highest ordinal to the lowest, not below the partition. */
export function updateOfStatefulSet({ updateStrategy, replicas, minReadySeconds }: SpecOf<"StatefulSet">): Update {
  const { partition = 0, maxUnavailable = 1 } = updateStrategy?.rollingUpdate ?? {};
  const parallelism = Math.max(1, shareOf(maxUnavailable, replicas, Math.ceil));
  return {
    ...AS_KUBERNETES,
    ...{ order: "stop-first", parallelism, minReady: minReadySeconds, reverse: true },
    ...(partition === 0 ? {} : { partition }),
  };
}

/** What a workload asks for its updates, and what does not happen here. */
export function workloadWarnings({ kind, spec }: WorkloadInput): Problem[] {
  const told = (message: string, ...path: string[]): Problem => ({ code: "shape", message, path: ["spec", ...path] });
  switch (kind) {
    case "Deployment":
      return spec.progressDeadlineSeconds > MOST_READY ? [told("a rollout waits for a day at most", "progressDeadlineSeconds")] : [];
    case "ReplicaSet":
    case "ReplicationController":
    case "DaemonSet":
    case "StatefulSet": {
      const isHeld = "updateStrategy" in spec && spec.updateStrategy?.type === "OnDelete";
      return [
        ...(isHeld ? [told("has no effect: an apply replaces the pods without a delete", "updateStrategy", "type")] : []),
        ...(kind !== "StatefulSet" && spec.minReadySeconds > 0
          ? [told("has no effect: what takes the place of a pod is waited for, and no longer", "minReadySeconds")]
          : []),
      ];
    }
    default:
      return [];
  }
}

/** No more than all pods. */
function shareOf(share: number | string, of: number, round: (count: number) => number): number {
  const count = typeof share === "number" ? share : round((Number.parseInt(share, 10) * of) / 100);
  return Math.min(Math.max(1, of), count);
}
