/** The service that a task is a replica of. Pure. */
import { canonicalJson } from "./canonical.ts";
import type { Problem } from "./finding.ts";
import type { TaskSpec } from "./schema/task.ts";

export interface ReplicaPlace {
  /** Name of the service. */
  readonly service: string;
  readonly index: number;
}

/** Of `update.drain`. */
export const DEFAULT_DRAIN_MS = 10_000;

export type UpdatePolicy = NonNullable<TaskSpec["update"]>;
/** How replicas are replaced, in an update or in a return to an earlier version. */
export type RolloutPolicy = UpdatePolicy;

/** undefined: the task is replaced alone, as soon as its spec changes. */
export function replicaOf({ name, update, replica }: TaskSpec): ReplicaPlace | undefined {
  if (update === undefined) return undefined;
  return { service: replica?.of ?? name, index: replica?.index ?? 0 };
}

export function checkReplica({ update, rollback, replica, replace, schedule, start }: TaskSpec): Problem[] {
  const wrong = (field: string, message: string): Problem => ({ code: "combination", message, path: [field] });
  if (update === undefined) {
    const given = { rollback, replica };
    return Object.entries(given).flatMap(([field, value]) => (value === undefined ? [] : [wrong(field, "needs update")]));
  }
  return [
    ...(replace === undefined ? [] : [wrong("replace", "is said by the order of update")]),
    ...(schedule === undefined ? [] : [wrong("update", "a task with a schedule has no containers that could be replaced")]),
    ...(start === "needed" ? [wrong("update", "a shared proxy is replaced by itself")] : []),
  ];
}

/** Replicas of one service have different indices and the same policy. */
export function checkReplicas(tasks: readonly TaskSpec[]): (Problem & { readonly task: number })[] {
  const first = new Map<string, { readonly policy: string; readonly indices: Set<number> }>();
  return tasks.flatMap((spec, task): (Problem & { readonly task: number })[] => {
    const place = replicaOf(spec);
    if (place === undefined) return [];
    const { service, index } = place;
    const policy = canonicalJson([spec.update, spec.rollback]);
    const known = first.get(service);
    if (known === undefined) {
      first.set(service, { policy, indices: new Set([index]) });
      return [];
    }
    const isTaken = known.indices.size === known.indices.add(index).size;
    return [
      ...(isTaken
        ? [
            {
              task,
              code: "duplicate-name" as const,
              message: `the replica ${index} of ${service} is there twice`,
              path: ["replica", "index"],
            },
          ]
        : []),
      ...(known.policy === policy
        ? []
        : [
            {
              task,
              code: "combination" as const,
              message: `is another one than that of the first replica of ${service}`,
              path: ["update"],
            },
          ]),
    ];
  });
}
