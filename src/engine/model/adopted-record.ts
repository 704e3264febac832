/** The record of a task that runs and that the store does not know: what it was asked for, and which of its containers there are. Pure. */
import { newRecord } from "./new-record.ts";
import type { ContainerRecord, Leftover, TaskRecord } from "./record.ts";
import type { Instant } from "./time.ts";

/** What is kept beside the store of each task that has containers. */
export interface TaskCard {
  readonly id: string;
  readonly group: string;
  readonly spec: TaskRecord["spec"];
  readonly cgroup: string | null;
  readonly createdAt: Instant;
}

/** One incarnation that the runtime knows. */
export interface FoundIncarnation {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

/** As if its starts were in flight: each of `found` is to be `lookedUp`. The others have not begun. */
export function adoptedRecord(
  { id, group, spec, cgroup, createdAt }: TaskCard,
  found: readonly FoundIncarnation[],
  at: Instant,
): TaskRecord {
  const record = newRecord({ id, group, spec, cgroup, at });
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
