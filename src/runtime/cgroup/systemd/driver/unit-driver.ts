import * as host from "../../../host/index.ts";
import { awaitOnlyOwn } from "../../driver/kill.ts";
import { markFor } from "../../driver/mark.ts";
import type { CgroupDriver, UnitRef } from "../../drivers/types.ts";
import { readHierarchies } from "../../hierarchies.ts";
import { parseProperty } from "../compile/property.ts";
import { slicePath } from "../compile/unit.ts";
import { approach, readSystemd, withManager } from "./connect.ts";
import { UnitExists } from "./manager.ts";
import { isUnitAt, stopUnit, updateUnit } from "./unit.ts";

/** For the init of a create that was killed before it made the mark: it ends by itself, on a busy host a little later. */
const PATIENCE_MS = 300;

/** The driver of a container that this transient unit holds. */
export function unitDriver(unit: UnitRef): CgroupDriver {
  return {
    joinFor({ paths }, join) {
      const [path = ""] = paths;
      if ("tasks" in join) return { tasks: [...join.tasks, ...hybridProcesses(path)] };
      if (host.geteuid() === 0 || mayMigrate(join.directory)) return join;
      // A user whose session lies outside of the user manager's cgroups can only be moved by systemd.
      return { attach: { ...unit, path: join.directory.slice(path.length) || "/" } };
    },
    tellLimits: (cgroup, writes) => updateUnit(unit, cgroup, writes),
    approach: () => approach(unit),
    /** Stopping a unit kills all processes in it. Without a mark that proves the owner, only an empty unit at the recorded place is stopped. */
    release(cgroup, owner) {
      const [path = ""] = cgroup.paths;
      if (markFor(path, owner.mark) !== "own" && !(awaitOnlyOwn(cgroup, owner, PATIENCE_MS) && isUnitAt(unit, path))) return;
      stopUnit(unit);
    },
  };
}

/** Where systemd mounts cgroup2 beside the v1 hierarchies. */
const UNIFIED = "/sys/fs/cgroup/unified";

/**
 * On a hybrid host systemd follows a unit's processes in the cgroup2 hierarchy, which v1 knows nothing of: what a further process of
 * the container has to join there. `path`: of the container in a v1 hierarchy.
 */
function hybridProcesses(path: string): string[] {
  const mountpoint = readHierarchies().hierarchies.find((hierarchy) => path.startsWith(`${hierarchy.mountpoint}/`))?.mountpoint ?? "";
  const file = `${UNIFIED}${path.slice(mountpoint.length)}/cgroup.procs`;
  return host.access(file, host.ACCESS.WRITE) ? [file] : [];
}

/**
 * Whether this process may move what it starts into a v2 cgroup by itself: it must be allowed to write to the nearest cgroup above
 * both (Documentation/admin-guide/cgroup-v2, "Delegation Containment"). A user's session often lies outside of what the user's
 * manager has been given; then only systemd can.
 */
function mayMigrate(directory: string): boolean {
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

/**
 * A slice of the system's manager that holds the containers of a group, and what they may use
 * together. One that is there gets these properties. @param properties as parseProperty reads them
 * @throws RuntError config-invalid, cgroup
 */
export function startSlice(name: string, properties: readonly string[]): void {
  slicePath(name);
  const parsed = properties.map(parseProperty);
  withManager(readSystemd(false), (manager) => {
    try {
      manager.start(name, parsed);
    } catch (error) {
      if (!(error instanceof UnitExists)) throw error;
      manager.setProperties(
        name,
        parsed.filter((one) => one.name !== "Description"),
      );
    }
  });
}

/** With whatever is in it. One that is not there is fine. @throws RuntError config-invalid, cgroup */
export function stopSlice(name: string): void {
  slicePath(name);
  withManager(readSystemd(false), (manager) => manager.stop(name));
}
