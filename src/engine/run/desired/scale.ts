/** Changes the number of a service's replicas. Pure. */
import { replicaFrom, replicaOf, type TaskSpec } from "../../spec/index.ts";
import { EngineError } from "../errors.ts";

/** As many as the policy of a rollout counts (spec/schema/update.ts). */
export const MOST_REPLICAS = 1000;

/** The specs of `count` replicas, by index: those with the lowest indices, and further ones behind them. @throws EngineError not-scalable */
export function scaledSpecs(specs: readonly TaskSpec[], count: number): readonly TaskSpec[] {
  const byIndex = specs.toSorted((a, b) => indexOf(a) - indexOf(b));
  const first = byIndex[0]!;
  const next = indexOf(byIndex.at(-1)!) + 1;
  const added = Array.from({ length: Math.max(0, count - specs.length) }, (_, at) => {
    const spec = replicaFrom(first, next + at);
    if (typeof spec === "string") throw notScalable(replicaOf(first)!.service, spec);
    return spec;
  });
  return [...byIndex.slice(0, count), ...added];
}

export function notScalable(service: string, why: string): EngineError {
  return new EngineError("not-scalable", `the number of replicas of ${service} cannot be changed: ${why}`, { service });
}

function indexOf(spec: TaskSpec): number {
  return replicaOf(spec)?.index ?? 0;
}
