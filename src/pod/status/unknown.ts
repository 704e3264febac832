/** Formats what is known of a pod or a task while the engine cannot be asked. */
import type { PodStatus } from "kubernetes-types/core/v1.js";

/** Without `kind`: nobody can say whether the name is that of a pod. */
export interface UnknownObject {
  readonly metadata: { readonly name: string };
  readonly status: PodStatus;
}

/** Source: Kubernetes, "Pod phase": Unknown, the state of the pod could not be obtained. @param message why */
export function unknownObject(name: string, message: string): UnknownObject {
  return { metadata: { name }, status: { phase: "Unknown", reason: "EngineUnreachable", message } };
}
