/** Refuses fields of a task that this engine is configured not to support, before anything is done. */
import { type TaskSpec, unknownRuntime } from "../spec/index.ts";

export interface Refused {
  /** JSON pointer into the task. */
  readonly pointer: string;
  readonly message: string;
}

/** What the configuration of the engine allows. */
export interface HostSupport {
  readonly hasTaskLimits: boolean;
  /** Programs of runtimes that tasks may name, by their names. */
  readonly runtimes: Runtimes;
}

export type Runtimes = Readonly<Record<string, string>>;

/** One refusal for each such field; empty: the engine supports the task. */
export function refusedByHost({ cpus, memory, pids, runtime }: TaskSpec, { hasTaskLimits, runtimes }: HostSupport): Refused[] {
  const unknown = runtime === undefined ? undefined : unknownRuntime(runtime, Object.keys(runtimes));
  const refused = unknown === undefined ? [] : [{ pointer: "/runtime", message: unknown }];
  if (hasTaskLimits) return refused;
  const limits = Object.entries({ cpus, memory, pids })
    .filter(([, limit]) => limit !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, message: "limits of whole tasks are switched off on this host" }));
  return [...refused, ...limits];
}
