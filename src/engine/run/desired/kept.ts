/** Which volumes of a group a task names. Pure. */
import type { TaskRecord } from "../../model/index.ts";

export function keptVolumes({ spec }: Pick<TaskRecord, "spec">): string[] {
  return [...new Set(spec.volumes.flatMap(({ kept }) => kept ?? []))];
}

/** Those that go with it when that is asked for: one that was there before it belongs to others. */
export function ownVolumes({ spec }: Pick<TaskRecord, "spec">): string[] {
  return [...new Set(spec.volumes.flatMap(({ kept, existing }) => (existing ? [] : (kept ?? []))))];
}
