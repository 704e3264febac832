import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { walk } from "../../host/index.ts";
import { CGROUP2_SUPER_MAGIC } from "../hierarchies.ts";
import { allDirectories, type CgroupRef } from "../model.ts";
import { isMarkedLevel, mark } from "./levels.ts";
import { isMarked } from "./mark.ts";
import { type Owner, survey } from "./survey.ts";
import { hasChildren, parentOf } from "./tree.ts";
import { waitForEvent } from "./wait.ts";
import { whoseAre } from "./whose.ts";

/** statfs(2): CGROUP_SUPER_MAGIC is v1. */
const CGROUP_MAGICS: readonly number[] = [0x27_e0_eb, CGROUP2_SUPER_MAGIC];
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;
/** Killed processes leave their cgroup as they end: how long that may take, for all directories of a container together. */
const PATIENCE_MS = 2_500;
/** The same, where the processes that do not end may be somebody else's; for all directories together. */
const SHORT_PATIENCE_MS = 300;

/**
 * Remove a container's cgroup directories, the cgroups the container made below them, and the levels above that runt made
 * and nobody uses any more. What is gone already is fine. What is not the container's stays: a directory that was there before, one with the mark of
 * another container, and one that nothing proves to be its own and that somebody is in. Returns whether others are, or may be, in what stays.
 * @param allEnded all processes of the container have ended, so that a process that is left is not the container's: the cgroup stays with it
 * @throws RuntError cgroup when a process stays inside of what is its own.
 */
export function deleteCgroup(cgroup: CgroupRef, owner: Owner, allEnded = false): boolean {
  const { missing = [], kept = [] } = cgroup;
  const paths = allDirectories(cgroup);
  const patience = { ms: PATIENCE_MS };
  const made = paths.filter((path) => !kept.includes(path));
  const whose = whoseAre(made, owner.mark);
  for (const path of paths) if (kept.includes(path)) removeBelow(path, true);
  if (whose === "other") return true;
  let left = kept.length > 0;
  for (const path of made) {
    if (removeTree({ ...cgroup, path, patience, allEnded, shy: whose === "none" }, owner)) removeOwnParents(path, missing);
    else left = true;
  }
  return left;
}

interface Removal extends CgroupRef {
  readonly path: string;
  /** What is left of it. */
  readonly patience: { ms: number };
  readonly allEnded: boolean;
  /** Marked cgroups below are not the container's. */
  readonly shy: boolean;
}

/** False: others are in it, and it stays. */
function removeTree(removal: Removal, owner: Owner): boolean {
  const { path, patience, allEnded, shy } = removal;
  const version = path === removal.unified ? 2 : removal.version;
  let pause = FIRST_PAUSE_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      host.rmdir(path);
      return true;
    } catch (error) {
      if (isAbsent(path, error)) {
        requireHierarchy(path);
        return true;
      }
      const isLate = !isFirst && patience.ms <= 0;
      if (isLate || patience.ms < PATIENCE_MS - SHORT_PATIENCE_MS) {
        const { standing, own, others, unseen } = survey(removal, owner);
        if (standing.get(path) !== "own" && others.size + unseen.others > 0) return false;
        if (isLate && allEnded && own.size + unseen.own > 0) return false;
      }
      if (isLate || !host.isErrno(error, "EBUSY")) {
        throw new RuntError("cgroup", `cannot remove cgroup ${path}: ${host.reason(error)}`, { cause: error });
      }
    }
    if (hasChildren(path)) {
      removeBelow(path, shy);
      if (isFirst) continue;
    }
    const before = host.monotonic();
    waitForExit(version, path, pause);
    patience.ms -= host.monotonic() - before;
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

/** Removes every cgroup below that has no process. `shy`: except those of other containers. */
function removeBelow(path: string, shy: boolean): void {
  if (!hasChildren(path)) return;
  try {
    walk(path, {
      enter: ({ path: directory, depth }) => depth === 0 || !shy || !isMarked(directory),
      left(directory) {
        try {
          host.rmdir(directory);
        } catch (error) {
          // What is in the way of one is in the way of the first one, too, which then says it.
          if (!(error instanceof Error && "errno" in error)) throw error;
        }
      },
    });
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENOTDIR", "ENODEV", "ETIMEDOUT")) throw error;
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

/** Removes a level that is not in use, and the unused levels above it. */
export function deleteEmptyLevel(level: string): void {
  removeOwnParents(`${level}/`, []);
}

/** Stops at the first level that is not ours, or that another container still uses or has just made again. */
function removeOwnParents(path: string, missing: readonly string[]): void {
  let isBelowFile = false;
  for (let level = parentOf(path); level !== ""; level = parentOf(level)) {
    try {
      if (!missing.includes(level) && !isMarkedLevel(level)) {
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
