/** What runt has made in the cgroup tree, by its marks: for `runt gc`. Nothing is changed here. */
import * as host from "../../host/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import { MARK } from "./create.ts";
import { CONTAINER_MARKS, type ContainerMark } from "./mark.ts";
import { children, readIfThere } from "./tree.ts";

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

  /** Whether nothing but empty levels of runt is there. */
  function walk(mountpoint: string, directory: string): boolean {
    const mark = readMark(directory, attribute);
    if (mark) {
      const path = directory.slice(mountpoint.length);
      containers.set(path, { mark, path });
      return false;
    }
    const used = children(directory)
      .map((child) => walk(mountpoint, child))
      .includes(false);
    if (used || directory === mountpoint || host.getxattr(directory, MARK) === undefined || hasProcesses(directory)) return false;
    emptyLevels.push(directory);
    return true;
  }

  for (const { mountpoint } of readHierarchies().hierarchies) walk(mountpoint, mountpoint);
  return { containers: [...containers.values()], emptyLevels };
}

/** Written by whoever may write the attribute: what is not a mark is none. */
function readMark(directory: string, attribute: string): ContainerMark | undefined {
  let value: Partial<ContainerMark> | null;
  try {
    const text = host.getxattr(directory, attribute);
    if (text === undefined) return undefined;
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || host.isErrno(error, "EILSEQ")) return undefined;
    throw error;
  }
  const sound = typeof value?.root === "string" && typeof value.id === "string" && Array.isArray(value.kept ?? []);
  return sound ? (value as ContainerMark) : undefined;
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
