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
