/** What earlier versions made of the same file. */
import { specDigest } from "./parse.ts";
import type { TaskSpec } from "./schema/task.ts";

/**
 * The digest that the same pod had in versions that gave a pod no network by default. By it a job that has succeeded under such a version is known, so
 * that another `apply` does not run it once more. undefined: the spec was the same then.
 */
export function earlierDigest({ network, namespaces, ...spec }: TaskSpec): string | undefined {
  if (network?.fallback === undefined) return undefined;
  const { dns } = network;
  // The only container of a virtual machine shared no namespace.
  const earlier = { ...namespaces, network: namespaces.ipc === "private" ? ("private" as const) : ("shared" as const) };
  return specDigest({ ...spec, namespaces: earlier, ...(dns === undefined ? {} : { dns }) });
}
