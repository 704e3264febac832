/** Records of earlier versions of this program. */
import { RECORD_VERSION, type TaskRecord } from "./record.ts";

/** Of version 1 or later, as this version has it: fields that were added have the value that means "nothing of it". */
export function upgradeRecord(record: TaskRecord): TaskRecord {
  if ((record.version as number) >= RECORD_VERSION) return record;
  const { containers } = record;
  return {
    ...record,
    version: RECORD_VERSION,
    // Not in the first records of this version, whose tasks had no cgroup of their own.
    cgroup: record.cgroup ?? null,
    replaces: record.replaces ?? null,
    previous: record.previous ?? null,
    pulls: null,
    containers: containers.map((one) => ({ ...one, preStop: one.preStop ?? "waiting", update: one.update ?? null, image: null })),
  };
}
