/** Which namespaces the containers of a task use, from all fields of the file together. */
import type { TaskSpec } from "./schema/task.ts";

/** A network that the engine makes for the task is nobody else's, as a private one. */
export function namespacesOf({ namespaces, network }: TaskSpec): TaskSpec["namespaces"] {
  if (network === undefined) return namespaces;
  return { ...namespaces, network: network.mode === "host" ? "host" : "private" };
}

/** The engine makes its network: a namespace, and what is in it. */
export function hasOwnNetwork({ network }: TaskSpec): boolean {
  return network !== undefined && network.mode !== "host";
}
