/**
 * Finds changes that no event has reported, by comparing records with the containers on disk. Pure. `records` must be from before the disk was read: a container
 * that ran at that time stays on disk until its end is recorded.
 */
import type { TaskRecord } from "../model/index.ts";

export interface Missed {
  readonly task: string;
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  /** exited: the end of the container was missed. absent: its records are gone. lost: they are damaged. running: it was recorded as stopped, but runs. */
  readonly is: "exited" | "absent" | "lost" | "running";
}

/** @param entries what is on disk, by runtime id; undefined: the container is changing between the two states */
export function missedIn(
  records: readonly TaskRecord[],
  entries: ReadonlyMap<string, "running" | "exited" | "lost" | undefined>,
): Missed[] {
  return records.flatMap(({ id: task, containers }) =>
    containers.flatMap(({ name: container, generation, runtimeId, known, applied }): Missed[] => {
      // The result of the action in progress will tell.
      if (applied !== null) return [];
      const isThere = entries.has(runtimeId);
      const now = entries.get(runtimeId);
      const of = { task, container, generation, runtimeId };
      if (known === "STOPPED") return now === "running" ? [{ ...of, is: "running" }] : [];
      if (known !== "RUNNING" && known !== "RESOURCES_PROVISIONED") return [];
      if (!isThere) return [{ ...of, is: "absent" }];
      return now === "exited" || now === "lost" ? [{ ...of, is: now }] : [];
    }),
  );
}
