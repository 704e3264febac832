/** Features that this engine is configured not to provide. They are refused by name, before anything happens. */
import type { TaskSpec } from "../spec/index.ts";

export interface Refused {
  /** JSON pointer within the task. */
  readonly pointer: string;
  readonly message: string;
}

/** One refusal for each field; empty when the engine provides all of them. */
export function refusedByHost({ cpus, memory, pids }: TaskSpec, { hasTaskLimits }: { readonly hasTaskLimits: boolean }): Refused[] {
  if (hasTaskLimits) return [];
  return Object.entries({ cpus, memory, pids })
    .filter(([, limit]) => limit !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, message: "limits of whole tasks are switched off on this host" }));
}
