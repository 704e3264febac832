import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../facts.ts";
import { CGROUP2_SUPER_MAGIC } from "../hierarchies.ts";
import { MARK, mark } from "./create.ts";
import { children, parentOf } from "./tree.ts";
import { waitForEvent } from "./wait.ts";

/** statfs(2): CGROUP_SUPER_MAGIC is v1. */
const CGROUP_MAGICS: readonly number[] = [0x27_e0_eb, CGROUP2_SUPER_MAGIC];
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;
/** Killed processes leave their cgroup as they end; about two seconds altogether. */
const ATTEMPTS = 25;

/**
 * Remove a container's cgroup directories, the cgroups the container made below them, and the levels above that runt made
 * and nobody uses any more. What is gone already is fine; a directory that was there before the container stays.
 * @throws RuntError cgroup when a process stays inside.
 */
export function deleteCgroup({ version, paths, missing = [], kept = [] }: CgroupRef): void {
  for (const path of paths) {
    if (kept.includes(path)) {
      for (const child of children(path)) removeTree(version, child);
      continue;
    }
    removeTree(version, path);
    removeOwnParents(path, missing);
  }
}

function removeTree(version: 1 | 2, directory: string): void {
  let pause = FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      host.rmdir(directory);
      return;
    } catch (error) {
      if (isAbsent(directory, error)) {
        requireHierarchy(directory);
        return;
      }
      if (!host.isErrno(error, "EBUSY") || attempt === ATTEMPTS) {
        throw new RuntError("cgroup", `cannot remove cgroup ${directory}: ${host.reason(error)}`, { cause: error });
      }
    }
    const below = children(directory);
    for (const child of below) removeTree(version, child);
    if (below.length > 0 && attempt === 1) continue;
    waitForExit(version, directory, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

/** A read-only file system says so before it looks. */
function isAbsent(directory: string, error: unknown): boolean {
  return host.isErrno(error, "ENOENT", "ENOTDIR") || (host.isErrno(error, "EROFS") && !host.access(directory, 0));
}

/** Gone is only what would be there: a verb in a mount namespace without the hierarchy must not take the cgroup for removed. */
function requireHierarchy(directory: string): void {
  if (CGROUP_MAGICS.includes(filesystemAbove(directory))) return;
  throw new RuntError("cgroup", `cannot remove cgroup ${directory}: no cgroup hierarchy is mounted there`, {
    hint: "mount it, or call this where it is mounted",
  });
}

/** Type of the filesystem of the nearest directory above that is there; others may be taken away at any moment. */
function filesystemAbove(path: string): number {
  const above = parentOf(path) || "/";
  try {
    return host.statfsType(above);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENOTDIR")) throw error;
    return filesystemAbove(above);
  }
}

/** v2 reports the last exit through cgroup.events; v1 has nothing to wait on. */
function waitForExit(version: 1 | 2, directory: string, milliseconds: number): void {
  // The last process is gone, but the kernel has not let go yet.
  if (version === 1 || waitForEvent(directory, "populated 0", milliseconds)) host.sleep(version === 1 ? milliseconds : FIRST_PAUSE_MS);
}

/** A level that nobody uses and everything like it above. */
export function deleteEmptyLevel(level: string): void {
  removeOwnParents(`${level}/`, []);
}

/** Stops at the first level that is not ours, or that another container still uses or has just made again. */
function removeOwnParents(path: string, missing: readonly string[]): void {
  let isBelowFile = false;
  for (let level = parentOf(path); level !== ""; level = parentOf(level)) {
    try {
      if (!missing.includes(level) && host.getxattr(level, MARK) === undefined) {
        // A level with the name of a file ("tasks") could not be made; those above it could.
        if (!isBelowFile) return;
        isBelowFile = false;
        continue;
      }
      host.rmdir(level);
    } catch (error) {
      if (host.isErrno(error, "EBUSY", "ENOTEMPTY")) {
        if (isBusy(level, missing)) return;
        continue;
      }
      isBelowFile ||= host.isErrno(error, "ENOTDIR");
      if (isBelowFile) continue;
      if (!isAbsent(level, error)) throw new RuntError("cgroup", `cannot remove cgroup ${level}: ${host.reason(error)}`, { cause: error });
    }
  }
}

/**
 * Levels that this container made and others use are marked, in case its create was killed before it could do that. Whoever went
 * meanwhile has not seen the mark, so the level is tried once more.
 */
function isBusy(level: string, missing: readonly string[]): boolean {
  if (!missing.includes(level)) return true;
  for (let at = level; missing.includes(at); at = parentOf(at)) mark(at);
  try {
    host.rmdir(level);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) return true;
  }
  return false;
}

/** The levels above a container's directory that runt made, innermost first: what may be removed when nobody uses them. */
export function markedParents(path: string): string[] {
  const marked: string[] = [];
  for (let level = parentOf(path); level !== "" && host.getxattr(level, MARK) !== undefined; level = parentOf(level)) marked.push(level);
  return marked;
}
