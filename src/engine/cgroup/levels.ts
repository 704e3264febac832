/**
 * Directories of the cgroup hierarchies. The engine marks each level that it makes above the tasks' cgroups with the sticky bit, because Node has no
 * extended attributes. The bit means nothing to a cgroup, and mkdir(2) itself sets it. A level without it belongs to somebody else, and stays.
 */
import { chmodSync, mkdirSync, rmdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Hierarchy } from "../../executor/index.ts";

const STICKY = 0o1000;
const MODE = 0o755;
/** Another engine may remove an empty level between two calls. */
const ATTEMPTS = 16;

/** The levels of `path` from the top, without itself: "/a/b/c" has "/a" and "/a/b". */
function levelsAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === "/" ? [] : [...levelsAbove(parent), parent];
}

/**
 * Make the directory `path` (absolute within the hierarchy) and what is missing above it. One that is there is used. `prepare` is called for each
 * level above it, from the top. Errors are those of mkdir(2).
 */
export function makeDirectory({ mountpoint }: Hierarchy, path: string, prepare: (directory: string) => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      prepare(mountpoint);
      for (const level of levelsAbove(path)) {
        mkdirOnce(`${mountpoint}${level}`, STICKY | MODE);
        prepare(`${mountpoint}${level}`);
      }
      mkdirOnce(`${mountpoint}${path}`, MODE);
      return;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === ATTEMPTS) throw error;
    }
  }
}

function mkdirOnce(directory: string, mode: number): void {
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw error;
  }
  // The umask of the process does not apply to chmod.
  chmodSync(directory, mode);
}

/** False: there are processes or cgroups in it. A directory that is gone counts as removed. */
export function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return true;
    if (code === "EBUSY" || code === "ENOTEMPTY") return false;
    throw error;
  }
}

/** Removes the levels above it that the engine made and that nobody uses any more. */
export function removeLevelsAbove({ mountpoint }: Hierarchy, path: string): void {
  for (const level of levelsAbove(path).reverse()) {
    const directory = `${mountpoint}${level}`;
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if ((found.mode & STICKY) === 0 || !tryRemove(directory)) return;
  }
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
