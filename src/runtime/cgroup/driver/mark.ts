/** Whose a cgroup is: written on the first directory of a container, lasting longer than its state may, and asked before anybody is killed in it. */
import * as host from "../../host/index.ts";

/** Without rights on the host only attributes of users can be written, which cgroup v2 has. */
export const CONTAINER_MARKS = { root: "trusted.runt.container", rootless: "user.runt.container" } as const;

export interface ContainerMark {
  /** State root. */
  readonly root: string;
  readonly id: string;
  /** Which directory the state root is, "DEVICE:INODE"; absent in marks of older builds. */
  readonly directory?: string;
  /** When the container was made, as its record has it. */
  readonly created?: string;
  /** Directories of the container in other hierarchies that were there before it. */
  readonly kept?: readonly string[];
  /** Name of the systemd unit whose cgroup it is. */
  readonly unit?: string;
}

/** What a mark is to say. `root`: undefined, where the caller does not know it. */
export interface Marking {
  readonly root?: string;
  readonly id: string;
  /** Which directory that is: the path of a root that was moved is another one now. */
  readonly directory?: string;
  /** When the container was made, for callers who mean only that one of several with this id. */
  readonly created?: string | undefined;
}

/** Without the right to mark it (v1, rootless) the directory stays unmarked: its state record still names it. */
export function markContainer(directory: string, mark: ContainerMark): void {
  const value = JSON.stringify(mark);
  if (!trySet(directory, CONTAINER_MARKS.root, value)) trySet(directory, CONTAINER_MARKS.rootless, value);
}

function trySet(directory: string, name: string, value: string): boolean {
  try {
    host.setxattr(directory, name, value);
    return true;
  } catch (error) {
    if (host.isErrno(error, "EPERM", "EOPNOTSUPP", "EACCES")) return false;
    throw error;
  }
}

/** Other programs may write the attribute, too: a text that is not a mark counts as none. */
export function readMark(directory: string, attribute: string): ContainerMark | undefined {
  let value: Partial<ContainerMark> | null;
  try {
    const text = host.getxattr(directory, attribute);
    if (typeof text !== "string") return undefined;
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || host.isErrno(error, "EILSEQ")) return undefined;
    throw error;
  }
  const sound = typeof value?.root === "string" && typeof value.id === "string" && Array.isArray(value.kept ?? []);
  return sound ? (value as ContainerMark) : undefined;
}

/**
 * Whether this directory is marked as that container's. A mark of root's comes first. One of a user's counts, too: only who may make directories
 * there can write it, and what it gives away is their own.
 */
export function markFor(directory: string, wanted: Marking): "own" | "other" | "none" {
  const mark = markOf(directory);
  if (mark === undefined) return "none";
  const isMeant = wanted.created === undefined || mark.created === wanted.created;
  return mark.id === wanted.id && isMeant && isOfRoot(mark, wanted) ? "own" : "other";
}

function isOfRoot(mark: ContainerMark, { root, directory }: Marking): boolean {
  if (root === undefined || (directory !== undefined && mark.directory === directory)) return true;
  return (directory === undefined || mark.directory === undefined) && isSameRoot(mark.root, root);
}

/** The mark of the directory, root's first; undefined: it has none. */
export function markOf(directory: string): ContainerMark | undefined {
  return markOn(directory, CONTAINER_MARKS.root) ?? markOn(directory, CONTAINER_MARKS.rootless);
}

/** Whether it is marked as any container's. */
export function isMarked(directory: string): boolean {
  return markOf(directory) !== undefined;
}

/** A directory that cannot be asked says nothing. */
function markOn(directory: string, attribute: string): ContainerMark | undefined {
  try {
    return readMark(directory, attribute);
  } catch (error) {
    if (error instanceof Error && "errno" in error) return undefined;
    throw error;
  }
}

/** By name, or by another name of the same directory. */
export function isSameRoot(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [host.stat(one), host.stat(other)];
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
