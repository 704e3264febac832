/**
 * Finds ends that were not reported, by comparing records with what is on the disk. Pure. `records` are from before the disk was read:
 * an incarnation that ran then has something on the disk until its end is recorded.
 */
import type { TaskRecord } from "../model/index.ts";

export interface Missed {
  readonly task: string;
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  /** exited: its end was not seen. absent: nothing is left of it. running: it has stopped, and is there again. */
  readonly is: "exited" | "absent" | "running";
}

/** @param entries what is there, by runtime id; undefined: it is on its way from one to the other */
export function missedIn(records: readonly TaskRecord[], entries: ReadonlyMap<string, "running" | "exited" | undefined>): Missed[] {
  return records.flatMap(({ id: task, containers }) =>
    containers.flatMap(({ name: container, generation, runtimeId, known, applied }): Missed[] => {
      // An action in flight tells what has come of it.
      if (applied !== null) return [];
      const isThere = entries.has(runtimeId);
      const now = entries.get(runtimeId);
      const of = { task, container, generation, runtimeId };
      if (known === "STOPPED") return now === "running" ? [{ ...of, is: "running" }] : [];
      if (known !== "RUNNING" && known !== "RESOURCES_PROVISIONED") return [];
      if (!isThere) return [{ ...of, is: "absent" }];
      return now === "exited" ? [{ ...of, is: "exited" }] : [];
    }),
  );
}
