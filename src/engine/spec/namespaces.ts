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

/** Whether processes may join the namespace of its network while that is made: nothing is written in it but its interfaces, so that it can be kept if they are made again. */
export function isJoinedEarly({ network }: TaskSpec): boolean {
  return network?.proxy === undefined && network?.via === undefined && network?.redirects === undefined;
}
