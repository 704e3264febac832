/** Builds the record of a task that runs and that the store does not know, from its spec and the containers that exist. Pure. */
import { newRecord } from "./new-record.ts";
import type { ContainerRecord, Leftover, TaskRecord } from "./record.ts";
import type { Instant } from "./time.ts";

/** The copy of a task's spec that is kept beside the store for tasks that have containers. */
export interface SpecCopy {
  readonly id: string;
  readonly group: string;
  readonly spec: TaskRecord["spec"];
  readonly cgroup: string | null;
  readonly users?: TaskRecord["users"];
  readonly createdAt: Instant;
}

/** An incarnation of a container that the runtime knows. */
export interface FoundIncarnation {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

/** The starts of `found` count as in flight, so that each must be `lookedUp`. All other containers count as not created. */
export function adoptedRecord(
  { id, group, spec, cgroup, users, createdAt }: SpecCopy,
  found: readonly FoundIncarnation[],
  at: Instant,
): TaskRecord {
  const record = newRecord({ id, group, spec, cgroup, at, users });
  const newest = (name: string) =>
    found
      .filter(({ container }) => container === name)
      .reduce<FoundIncarnation | undefined>((a, b) => (a && a.generation > b.generation ? a : b), undefined);
  const containers = record.containers.map((one): ContainerRecord => {
    const it = newest(one.name);
    return it === undefined ? one : { ...one, generation: it.generation, runtimeId: it.runtimeId, known: "CREATED", applied: "RUNNING" };
  });
  const current = new Set(containers.map(({ runtimeId }) => runtimeId));
  return {
    ...record,
    createdAt,
    admission: "admitted",
    resources: record.resources.map((one) => ({ ...one, known: "CREATED" })),
    containers,
    leftovers: found.flatMap((one): Leftover[] =>
      current.has(one.runtimeId) ? [] : [{ ...one, isRemoving: false, failures: 0, nextTry: null }],
    ),
  };
}
