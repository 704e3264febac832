import * as host from "../host/index.ts";
import type { CgroupHierarchies } from "./model.ts";
import { hierarchiesIn } from "./mountinfo.ts";

export const CGROUP2_SUPER_MAGIC = 0x6367_7270;
const MOUNTINFO = "/proc/self/mountinfo";
const UNIFIED = "/sys/fs/cgroup";

let known: CgroupHierarchies | undefined;

/** Which cgroup version the host uses and where its hierarchies are mounted. Reads at most two small files, once a process. */
export function readHierarchies(): CgroupHierarchies {
  known ??= read();
  return known;
}

function read(): CgroupHierarchies {
  if (isUnified()) return { version: 2, hierarchies: [{ mountpoint: UNIFIED, controllers: readControllers(UNIFIED) }] };
  const facts = hierarchiesIn(host.readFile(MOUNTINFO, undefined, true));
  // Where another mount covers the directory above, the table still names the mount below it.
  if (facts.unified !== undefined && !hasCgroup2(facts.unified)) return { version: 1, hierarchies: facts.hierarchies };
  if (facts.version === 1) return facts;
  return { version: 2, hierarchies: facts.hierarchies.map(({ mountpoint }) => ({ mountpoint, controllers: readControllers(mountpoint) })) };
}

function hasCgroup2(directory: string): boolean {
  try {
    return host.statfsType(directory) === CGROUP2_SUPER_MAGIC;
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES")) return false;
    throw error;
  }
}

/** Whether the usual place has a tree of v2: quickly told, and wrong only where that is elsewhere. */
export function isUnified(): boolean {
  return hasCgroup2(UNIFIED);
}

function readControllers(mountpoint: string): string[] {
  return host.readFile(`${mountpoint}/cgroup.controllers`, undefined, true).split(/\s+/).filter(Boolean);
}
