/** Where a process is now. */
import { RuntError } from "../../errors/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import type { CgroupHierarchy } from "../model.ts";
import { readIfThere } from "./tree.ts";

/** The directory a process is in, in the hierarchy of `path`; undefined when it cannot be found. @throws RuntError cgroup */
export function directoryOf(process: number | "self", path: string): string | undefined {
  const { unified } = readHierarchies();
  const isHybrid = unified !== undefined && path.startsWith(`${unified}/`);
  const hierarchy = isHybrid ? { mountpoint: unified, controllers: [] } : hierarchyOf(path);
  for (const line of (readIfThere(`/proc/${process}/cgroup`) ?? "").split("\n")) {
    // ID:CONTROLLERS:PATH; the path may hold colons.
    const [, controllers = "", ...rest] = line.split(":");
    const names = controllers === "" ? [] : controllers.split(",");
    const isSame =
      names.length === 0 ? isHybrid || readHierarchies().version === 2 : names.some((name) => hierarchy.controllers.includes(name));
    if (isSame) return hierarchy.mountpoint + rest.join(":");
  }
  return undefined;
}

/** @throws RuntError cgroup */
export function hierarchyOf(path: string): CgroupHierarchy {
  const found = readHierarchies().hierarchies.find(({ mountpoint }) => path.startsWith(`${mountpoint}/`));
  if (found === undefined) throw new RuntError("cgroup", `${path} is not below a mounted cgroup hierarchy`);
  return found;
}
