/** The levels above the cgroups of containers: which are there, and which of them runt has made. */
import * as host from "../../host/index.ts";
import { allDirectories, type CgroupBefore, type CgroupRef } from "../model.ts";
import { parentOf } from "./tree.ts";

/** Marks a level that runt made above a container's own, so that whichever container goes last removes it. */
const MARK = "trusted.runt";

/** What a container's record says of its cgroup when nothing of it exists; undefined: something does, and refuseUsed looks at it. */
export function levelsToMake(cgroup: CgroupRef): CgroupBefore | undefined {
  const { kept, missing } = findLevels(allDirectories(cgroup));
  return kept.length === 0 ? { missing } : undefined;
}

/**
 * Which of these directories are there (`kept`), and above the others the levels that are not there or that runt has marked, each from the
 * innermost up to the first that is neither (`missing`).
 */
export function findLevels(paths: readonly string[]): { readonly kept: readonly string[]; readonly missing: string[] } {
  const missing: string[] = [];
  const kept = paths.filter((path) => {
    let level = parentOf(path);
    let found = levelMark(level);
    // Where the level above is not there, it is not either.
    if (found !== null && host.access(path, host.ACCESS.EXIST)) return true;
    for (; found !== undefined; found = levelMark(level)) {
      missing.push(level);
      level = parentOf(level);
    }
    return false;
  });
  return { kept, missing };
}

/** null: there is no such level; undefined: it has no mark. */
function levelMark(level: string): string | null | undefined {
  return level === "" ? undefined : host.getxattr(level, MARK);
}

export function isMarkedLevel(level: string): boolean {
  return typeof levelMark(level) === "string";
}

/** The levels above a container's directory that runt made, innermost first. They may be removed when they are not in use. */
export function markedParents(path: string): string[] {
  const marked: string[] = [];
  for (let level = parentOf(path); isMarkedLevel(level); level = parentOf(level)) marked.push(level);
  return marked;
}

/** Without the right to mark it (rootless) the level simply stays. */
export function mark(level: string): void {
  try {
    host.setxattr(level, MARK, "1");
  } catch (error) {
    if (!host.isErrno(error, "EPERM", "EOPNOTSUPP", "EACCES", "ENOENT")) throw error;
  }
}
