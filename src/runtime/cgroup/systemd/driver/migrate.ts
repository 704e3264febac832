import * as host from "../../../host/index.ts";
import { readHierarchies } from "../../hierarchies.ts";

/**
 * Whether this process may move what it starts into a v2 cgroup by itself: it must be allowed to write to the nearest cgroup above
 * both (Documentation/admin-guide/cgroup-v2, "Delegation Containment"). A user's session often lies outside of what the user's
 * manager has been given; then only systemd can.
 */
export function mayMigrate(directory: string): boolean {
  const [hierarchy] = readHierarchies().hierarchies;
  const own = /^0::(\/.*)$/m.exec(host.readFile("/proc/self/cgroup", undefined, true))?.[1];
  if (hierarchy === undefined || own === undefined) return false;
  const above = commonAncestor(own, directory.slice(hierarchy.mountpoint.length));
  return [directory, hierarchy.mountpoint + above].every((path) => host.access(`${path}/cgroup.procs`, host.ACCESS.WRITE));
}

/** Of "/a/b" and "/a/c": "/a"; "" when it is the root. */
export function commonAncestor(one: string, other: string): string {
  const parts = other.split("/");
  const same: string[] = [];
  for (const [index, part] of one.split("/").entries()) {
    if (parts[index] !== part) break;
    same.push(part);
  }
  return same.join("/");
}
