/** What runt has made in the cgroup tree, by its marks: for `runt gc`. Nothing is changed here. */
import * as host from "../../host/index.ts";
import { type Place, walk } from "../../host/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import { mountpointsOf } from "../model.ts";
import { isMarkedLevel } from "./levels.ts";
import { CONTAINER_MARKS, type ContainerMark, readMark } from "./mark.ts";
import { readIfThere } from "./tree.ts";

export interface MarkedCgroup {
  readonly mark: ContainerMark;
  /** Below every hierarchy. */
  readonly path: string;
}

export interface Marked {
  readonly containers: readonly MarkedCgroup[];
  /** Directories of levels that runt made above containers and that have nothing in them any more, the innermost first. */
  readonly emptyLevels: readonly string[];
}

/** What lies below a container's cgroup is the container's own, and not looked at. */
export function findMarked(rootless: boolean): Marked {
  const containers = new Map<string, MarkedCgroup>();
  const emptyLevels: string[] = [];
  const attribute = rootless ? CONTAINER_MARKS.rootless : CONTAINER_MARKS.root;
  for (const mountpoint of mountpointsOf(readHierarchies())) {
    /** By depth, of the directories on the way: there is something in it that is no empty level. */
    const used: boolean[] = [];
    walk(mountpoint, {
      enter(place) {
        used[place.depth] = false;
        const mark = readMark(place.path, attribute);
        if (mark === undefined) return true;
        const path = place.name().slice(mountpoint.length);
        containers.set(path, { mark, path });
        used[place.depth - 1] = true;
        return false;
      },
      missed: ({ depth }) => {
        used[depth] = true;
      },
      leave(place) {
        if (!used[place.depth] && place.depth > 0 && isEmptyLevel(place)) emptyLevels.push(place.name());
        else used[place.depth - 1] = true;
      },
    });
  }
  return { containers: [...containers.values()], emptyLevels };
}

function isEmptyLevel({ path }: Place): boolean {
  return isMarkedLevel(path) && !hasProcesses(path);
}

function hasProcesses(directory: string): boolean {
  try {
    return (readIfThere(`${directory}/cgroup.procs`) ?? "") !== "";
  } catch (error) {
    // A threaded cgroup does not say.
    if (host.isErrno(error, "EOPNOTSUPP")) return true;
    throw error;
  }
}
