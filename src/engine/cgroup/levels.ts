/**
 * Directories of the cgroup hierarchies. The engine marks each level that it makes above the tasks' cgroups with the sticky bit, because Node cannot set extended
 * attributes. The bit has no meaning for a cgroup, and mkdir(2) sets it. A level without the bit was made by another program, and is never removed.
 */
import { chmodSync, mkdirSync, rmdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Hierarchy } from "../../executor/index.ts";

const STICKY = 0o1000;
const MODE = 0o755;
/** Tries to make a directory: another engine may remove an empty level between two calls. */
const ATTEMPTS = 16;

/** The levels above `path` from the top: "/a/b/c" has "/a" and "/a/b". */
function levelsAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === "/" ? [] : [...levelsAbove(parent), parent];
}

/**
 * Makes the directory `path` (absolute within the hierarchy) and the missing levels above it.
 * Existing directories are used. `prepare` is called for each level above it, from the top.
 * @throws the errors of mkdir(2)
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
  // chmod is needed because mkdir applies the umask of the process.
  chmodSync(directory, mode);
}

/** Returns false if the cgroup contains processes or cgroups. A missing directory counts as removed. */
function tryRemove(directory: string): boolean {
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

/** Removes empty levels above `path` that an engine has made. */
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
