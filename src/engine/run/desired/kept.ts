/** Which volumes of a group a task names. Pure. */
import type { TaskRecord } from "../../model/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import { EngineError } from "../errors.ts";

interface Known {
  readonly tasks: readonly TaskRecord[];
  /** Whether a group has a kept volume of this name on the disk. */
  readonly isKept: (group: string, name: string) => boolean;
}

export function keptVolumes({ spec }: Pick<TaskRecord, "spec">): string[] {
  return [...new Set(spec.volumes.flatMap(({ kept }) => kept ?? []))];
}

/** Those that go with it when that is asked for: one that was there before it belongs to others. */
export function ownVolumes({ spec }: Pick<TaskRecord, "spec">): string[] {
  return [...new Set(spec.volumes.flatMap(({ kept, existing }) => (existing ? [] : (kept ?? []))))];
}

/** A volume that has to be there is on the disk, or a task of the file or of the group makes it. @throws EngineError unknown-volume */
export function checkVolumes(specs: readonly TaskSpec[], group: string, { tasks, isKept }: Known): void {
  const wanted = specs.flatMap(({ volumes }) => volumes.flatMap(({ kept, existing }) => (existing && kept !== undefined ? kept : [])));
  if (wanted.length === 0) return;
  const others = tasks.filter((task) => task.group === group && !task.isDeleteAsked);
  const made = new Set([...specs.map((spec) => ({ spec })), ...others].flatMap(ownVolumes));
  const missing = [...new Set(wanted)].filter((name) => !made.has(name) && !isKept(group, name));
  if (missing.length > 0)
    throw new EngineError(
      "unknown-volume",
      `group ${group} has no volume ${missing.join(", ")}, and no task of the file makes it: a volume is of one group`,
      { group, volumes: missing },
    );
}
