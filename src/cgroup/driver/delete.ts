import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../facts.ts";
import { MARK } from "./create.ts";
import { children, parentOf } from "./tree.ts";

const POLLPRI = 2;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;
/** Killed processes leave their cgroup as they end; about two seconds altogether. */
const ATTEMPTS = 25;

/**
 * Remove a container's cgroup directories, the cgroups the container made below them, and the levels above that runt made
 * and nobody uses any more. What is gone already is fine. @throws RuntError cgroup when a process stays inside.
 */
export function deleteCgroup({ paths, missing = [] }: CgroupRef): void {
  for (const path of paths) {
    removeTree(path);
    removeOwnParents(path, missing);
  }
}

function removeTree(directory: string): void {
  let pause = FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      host.rmdir(directory);
      return;
    } catch (error) {
      if (host.isErrno(error, "ENOENT", "ENOTDIR")) return;
      if (!host.isErrno(error, "EBUSY") || attempt === ATTEMPTS) {
        throw new RuntError("cgroup", `cannot remove cgroup ${directory}: ${host.reason(error)}`, { cause: error });
      }
    }
    const below = children(directory);
    for (const child of below) removeTree(child);
    if (below.length > 0 && attempt === 1) continue;
    waitForExit(directory, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

/** v2 reports the last exit through cgroup.events; v1 has nothing to wait on. */
function waitForExit(directory: string, milliseconds: number): void {
  let events: number;
  try {
    events = host.open(`${directory}/cgroup.events`, host.O.RDONLY);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENODEV")) throw error;
    host.sleep(milliseconds);
    return;
  }
  try {
    host.poll([events], [POLLPRI], milliseconds);
  } finally {
    host.close(events);
  }
}

/** Stops at the first level that is not ours, or that another container still uses or has just made again. */
function removeOwnParents(path: string, missing: readonly string[]): void {
  for (let level = parentOf(path); level !== ""; level = parentOf(level)) {
    try {
      if (!missing.includes(level) && host.getxattr(level, MARK) === undefined) return;
      host.rmdir(level);
    } catch (error) {
      if (host.isErrno(error, "EBUSY", "ENOTEMPTY")) return;
      if (!host.isErrno(error, "ENOENT"))
        throw new RuntError("cgroup", `cannot remove cgroup ${level}: ${host.reason(error)}`, { cause: error });
    }
  }
}

/** The levels above a container's directory that runt made, innermost first: what may be removed when nobody uses them. */
export function markedParents(path: string): string[] {
  const marked: string[] = [];
  for (let level = parentOf(path); level !== "" && host.getxattr(level, MARK) !== undefined; level = parentOf(level)) marked.push(level);
  return marked;
}
