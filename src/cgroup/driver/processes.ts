import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRef } from "../facts.ts";
import { isFrozen } from "./freeze.ts";
import { children, parentOf, readIfThere } from "./tree.ts";

/** All processes of a cgroup and of everything below it, in host pids. */
function processesBelow(directory: string): number[] {
  const pids = (readIfThere(`${directory}/cgroup.procs`) ?? "").split("\n").filter(Boolean).map(Number);
  for (const child of children(directory)) pids.push(...processesBelow(child));
  return pids;
}

/** All processes of a container, ascending. v1 hierarchies agree unless the container moves its own processes about, so all are asked. */
export function cgroupProcesses({ paths }: CgroupRef): number[] {
  return [...new Set(paths.flatMap(processesBelow))].sort((one, other) => one - other);
}

/**
 * Refuse a cgroup that somebody else's processes live in, or that is frozen: the container could not be told from them.
 * To be called before anything is recorded or made, or undoing would kill those processes. Cheap when the cgroup does not exist.
 * Returns the levels above it that are missing now, for the record (`CgroupRef.missing`).
 * @throws RuntError cgroup, in the words that runc uses.
 */
export function refuseUsed({ version, paths }: CgroupRef): string[] {
  const existing: { version: 1 | 2; paths: string[] } = { version, paths: [] };
  const missing: string[] = [];
  for (const path of paths) {
    if (host.access(path, 0)) existing.paths.push(path);
    else missing.push(...missingParents(path));
  }
  if (existing.paths.length === 0) return missing;
  const { length } = cgroupProcesses(existing);
  if (length > 0) throw new RuntError("cgroup", `container's cgroup is not empty: ${length} process(es) found`);
  if (isFrozen(existing)) throw new RuntError("cgroup", "container's cgroup unexpectedly frozen");
  return missing;
}

function missingParents(path: string): string[] {
  const levels: string[] = [];
  for (let level = parentOf(path); level !== "" && !host.access(level, 0); level = parentOf(level)) levels.push(level);
  return levels;
}
