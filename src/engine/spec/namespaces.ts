/** Computes which namespaces the containers of a task use, from all fields that affect them. */
import type { TaskSpec } from "./schema/task.ts";

/** A network that the engine makes gives the task a network namespace of its own. */
export function namespacesOf({ namespaces, network }: TaskSpec): TaskSpec["namespaces"] {
  if (network === undefined) return namespaces;
  return { ...namespaces, network: network.mode === "host" ? "host" : "private" };
}

/** Whether the engine makes a network for the task. */
export function hasOwnNetwork({ network }: TaskSpec): boolean {
  return network !== undefined && network.mode !== "host";
}

/**
 * Whether processes may join the network namespace before the network is complete. The engine then makes nothing but interfaces in it, so that the
 * namespace can be kept if these have to be made again.
 */
export function isJoinedEarly({ network }: TaskSpec): boolean {
  return network?.proxy === undefined && network?.via === undefined && network?.redirects === undefined;
}
