/** Which cgroups are a checkpoint's: criu looks at every hierarchy that the kernel has. Pure. */
import type { CgroupRoot } from "./messages.ts";

/** A line of /proc/PID/cgroup. */
export interface Membership {
  /** v1 controllers as they stand there, or name=NAME; "" for v2. */
  readonly controllers: string;
  readonly path: string;
}

/** ID:CONTROLLERS:PATH */
export function parseMemberships(text: string): Membership[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, controllers = "", ...path] = line.split(":");
      return { controllers, path: path.join(":") };
    });
}

/** Whether a path is that of the container's cgroup in some hierarchy, or below it. `directories`: the container's, absolute. */
function isOwn(path: string, directories: readonly string[]): boolean {
  for (let at = path; at !== "" && at !== "/"; at = at.slice(0, at.lastIndexOf("/"))) {
    if (directories.some((directory) => directory.endsWith(at))) return true;
  }
  return false;
}

/** A file that every cgroup has. */
const FILE = "/cgroup.procs";

/**
 * For a dump. In a hierarchy where the container has no cgroup of its own (one that is mounted nowhere, or the v2 one beside v1 that it did not join) its path is the
 * root or that of whoever started it: criu would save all that is below there, fail when one of those goes meanwhile, and a restore would
 * make them again on its host and give them their old modes. Told to begin at a file it finds no cgroup there and goes on.
 */
export function foreignHierarchies(memberships: readonly Membership[], directories: readonly string[]): CgroupRoot[] {
  return memberships.filter(({ path }) => !isOwn(path, directories)).map(({ controllers }) => ({ controller: controllers, path: FILE }));
}

/** For a restore, of criu where it has been put: cgroups of the image are made again below the container's own. */
export function restoreRoots(memberships: readonly Membership[]): CgroupRoot[] {
  return memberships.flatMap(({ controllers, path }) => controllers.split(",").map((controller) => ({ controller, path })));
}
