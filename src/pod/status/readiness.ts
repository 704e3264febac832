/** Computes whether a pod is ready. As in Kubernetes, its probes decide, and not the health checks of its images. */
import type { Readiness } from "../../engine/index.ts";
import { conditionsOf } from "./conditions.ts";
import { podFacts, type TaskFacts } from "./facts.ts";

/** undefined: the task was not made from a pod. */
export function podReadiness({ task, detail }: Pick<TaskFacts, "task" | "detail">): Readiness | undefined {
  const facts = podFacts({ task, detail, hostAddresses: [] });
  if (facts === undefined) return undefined;
  const { readiness } = detail;
  const isDecided = readiness.state === "failed" || task.desired === "STOPPED" || task.waiting !== null;
  if (isDecided) return readiness;
  const { status, message = "the pod is not ready" } = conditionsOf(facts).find(({ type }) => type === "Ready")!;
  return status === "True" ? { state: "ready", why: "" } : { state: "waits", why: message };
}
