/** What a task asks for and this engine is configured not to give: refused by name, before anything happens. */
import type { TaskSpec } from "../spec/index.ts";

export interface Refused {
  /** JSON pointer within the task. */
  readonly pointer: string;
  readonly message: string;
}

/** One for each field; empty: all of it can be done. */
export function refusedByHost({ cpus, memory, pids }: TaskSpec, { hasTaskLimits }: { readonly hasTaskLimits: boolean }): Refused[] {
  if (hasTaskLimits) return [];
  return Object.entries({ cpus, memory, pids })
    .filter(([, limit]) => limit !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, message: "limits of whole tasks are switched off on this host" }));
}
