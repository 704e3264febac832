import { type CgroupRef, mountpointsOf, readHierarchies } from "../../cgroup/index.ts";
import * as host from "../../host/index.ts";

/** The cgroup of this path in every hierarchy that has it, without the directories that were there before the container. */
export function cgroupAt(path: string, kept: readonly string[]): CgroupRef {
  const facts = readHierarchies();
  const paths = mountpointsOf(facts)
    .map((mountpoint) => mountpoint + path)
    .filter((directory) => !kept.includes(directory) && host.access(directory, host.ACCESS.EXIST));
  return { version: facts.version, paths };
}
