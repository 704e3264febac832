/** Which volumes of a group a task names. Pure. */
import type { TaskRecord } from "../../model/index.ts";

export function keptVolumes({ spec }: Pick<TaskRecord, "spec">): string[] {
  return [...new Set(spec.volumes.flatMap(({ kept }) => kept ?? []))];
}
