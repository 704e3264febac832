/** Refuses fields of a task that this engine is configured not to support, before anything is done. */
import type { TaskSpec } from "../spec/index.ts";

export interface Refused {
  /** JSON pointer into the task. */
  readonly pointer: string;
  readonly message: string;
}

/** One refusal for each such field; empty: the engine supports the task. */
export function refusedByHost({ cpus, memory, pids }: TaskSpec, { hasTaskLimits }: { readonly hasTaskLimits: boolean }): Refused[] {
  if (hasTaskLimits) return [];
  return Object.entries({ cpus, memory, pids })
    .filter(([, limit]) => limit !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, message: "limits of whole tasks are switched off on this host" }));
}
