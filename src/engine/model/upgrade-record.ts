/** Upgrades records of earlier versions of this program. */
import { RECORD_VERSION, type TaskRecord } from "./record.ts";

/** Accepts version 1 and later. Fields that were added since get their empty value. */
export function upgradeRecord(record: TaskRecord): TaskRecord {
  if ((record.version as number) >= RECORD_VERSION) return record;
  const { containers } = record;
  return {
    ...record,
    version: RECORD_VERSION,
    // Early records of this version lack the field, because their tasks had no cgroup of their own.
    cgroup: record.cgroup ?? null,
    replaces: record.replaces ?? null,
    previous: record.previous ?? null,
    pulls: null,
    containers: containers.map((one) => ({ ...one, preStop: one.preStop ?? "waiting", update: one.update ?? null, image: null })),
  };
}
