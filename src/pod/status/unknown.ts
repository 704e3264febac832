/** Formats a pod of which nothing is known, because the engine cannot be asked. */
import type { PodStatus } from "kubernetes-types/core/v1.js";

export interface UnknownPod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: { readonly name: string };
  readonly status: PodStatus;
}

/** Source: Kubernetes, "Pod phase": Unknown, the state of the pod could not be obtained. @param message why */
export function unknownPod(name: string, message: string): UnknownPod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, status: { phase: "Unknown", reason: "EngineUnreachable", message } };
}
