/** The volumes of a group that outlive its tasks, and go with the last of them if that is asked for. */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { TaskRecord } from "../../model/index.ts";
import { removeEmpty, removeScratch } from "../../volumes/index.ts";
import { keptVolumes } from "../desired/kept.ts";
import type { Paths } from "../paths.ts";

export interface KeptVolumesOptions {
  readonly paths: Paths;
  readonly records: () => ReadonlyMap<string, TaskRecord>;
}

export class KeptVolumes {
  readonly #options: KeptVolumesOptions;

  constructor(options: KeptVolumesOptions) {
    this.#options = options;
  }

  /** Removes those of a task that is forgotten and that no other one may use. May be repeated. @throws the errors of the system calls */
  async release(record: TaskRecord): Promise<void> {
    if (record.areVolumesAsked !== true) return;
    const { paths, records } = this.#options;
    for (const name of keptVolumes(record)) {
      const [path, removed] = [paths.kept(record.group, name), paths.removedVolume(record.id, name)];
      // It is moved away at once: while it is removed, a new task may make its own.
      if (existsSync(path) && !existsSync(removed) && ![...records().values()].some((other) => mayUse(other, record, name))) {
        mkdirSync(dirname(removed), { recursive: true, mode: 0o700 });
        renameSync(path, removed);
      }
      await removeScratch(removed);
      for (const parent of [dirname(removed), dirname(dirname(removed)), dirname(path)]) removeEmpty(parent);
    }
  }
}

/** Of several that are deleted together the last one that stops removes the volume. */
function mayUse(other: TaskRecord, own: TaskRecord, name: string): boolean {
  const isEnded = other.isDeleteAsked && other.known === "STOPPED";
  return other.id !== own.id && other.group === own.group && !isEnded && keptVolumes(other).includes(name);
}
