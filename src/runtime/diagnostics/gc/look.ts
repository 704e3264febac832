/** One look at everything that runt may have left behind. Nothing is changed. */
import {
  type CgroupRef,
  type ContainerMark,
  cgroupCensus,
  findMarked,
  isSameRoot,
  type Left,
  lookAround,
  type MarkedCgroup,
  type Marking,
  mountpointsOf,
  readHierarchies,
} from "../../cgroup/index.ts";
import { RuntError } from "../../errors/index.ts";
import { ownerOf } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import type { RuntimeOptions } from "../../prepare/index.ts";
import {
  containerDirectory,
  halfWrittenFilters,
  isId,
  listIds,
  markedAt,
  notOurs,
  readRecord,
  rootDirectory,
  type StateRecord,
} from "../../state/index.ts";

type Found = Remains | Kept;

export function look(options: RuntimeOptions): Look {
  const { containers, emptyLevels } = findMarked(options.rootless);
  const isOurs = ({ mark }: MarkedCgroup) => isOfRoot(mark, options.root);
  const found: Found[] = [
    ...listIds(options.root).flatMap((id) => stateOf(options.root, id) ?? []),
    ...containers.filter(isOurs).flatMap((marked) => cgroupOf(options.root, marked) ?? []),
    ...emptyLevels.map((path): Found => ({ key: `level ${path}`, kind: "level", paths: [path], reason: "empty, and made by runt" })),
    ...cacheFiles(options.root),
  ];
  const others = containers.filter((marked) => !isOurs(marked)).map(({ mark }) => mark.root);
  return {
    remains: found.filter((one) => "key" in one),
    kept: found.filter((one): one is Kept => !("key" in one)),
    otherRoots: [...new Set(others)].sort(),
  };
}

/** undefined: the directory of a container, or of a create under way. */
function stateOf(root: string, id: string): Found | undefined {
  const lock = tryLock(root, id);
  if (lock === undefined) return undefined;
  const paths = [containerDirectory(root, id)];
  try {
    const { ino: inode } = host.fstat(lock);
    const here = { key: `state ${id} ${inode}`, kind: "state", id, inode, paths } as const;
    if (!host.lstat(`${paths[0]}/state.json`)) {
      const foreign = notOurs(root, id);
      if (foreign !== undefined) return { kind: "state", id, paths, reason: `not taken for remains: ${foreign}` };
      return { ...here, reason: "its create ended before it had a record" };
    }
    const record = readRecord(root, id);
    if (record.phase !== "creating") return undefined;
    const { stuck, others, unseen } = livingIn(root, record);
    if (stuck.length > 0) return { kind: "state", id, paths, processes: stuck, reason: "its create ended, but processes of it live" };
    const half = { ...here, created: record.created, reason: "its create ended half-way" } as const;
    return others.length + unseen === 0 ? half : { ...half, processes: others, reason: `${half.reason}; ${leaves(unseen)}` };
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    return error.code === "id-unknown" ? undefined : { kind: "state", id, paths, reason: error.message };
  } finally {
    host.close(lock);
  }
}

const NOBODY = { stuck: [], others: [], unseen: 0 };

function livingIn(root: string, record: StateRecord): Left {
  return record.cgroup ? lookAround(record.cgroup, ownerOf(record, root)) : NOBODY;
}

/** Of processes in its cgroup that nothing proves to be its own. */
function leaves(unseen: number): string {
  const more = unseen === 0 ? "" : ` (and ${unseen} that cannot be seen from this PID namespace)`;
  return `others in its cgroup are left alone${more}`;
}

/** undefined: there is a container, or there may be one. */
function cgroupOf(root: string, { mark, path }: MarkedCgroup): Found | undefined {
  const { root: itsRoot, id, directory, created, kept = [], unit } = mark;
  if (!isId(id) || host.lstat(containerDirectory(root, id))) return undefined;
  const cgroup = cgroupAt(path, kept);
  const { paths } = cgroup;
  const { pids, unseen } = cgroupCensus(cgroup);
  if (pids.size + unseen > 0) {
    const processes = [...pids].sort((one, other) => one - other);
    return { kind: "cgroup", id, paths, processes, reason: "its state is lost, but processes of it live" };
  }
  const named = unit !== undefined && path.endsWith(`/${unit}`) ? { unit } : {};
  const marking = { root: itsRoot, id, ...(directory !== undefined && { directory }), created };
  const key = `cgroup ${path} ${id} ${created}`;
  return { key, kind: "cgroup", id, paths, kept, ...named, marking, reason: "its state is lost, and nothing lives in it" };
}

/** What a killed process was about to put into the cache of filters. */
function cacheFiles(root: string): Found[] {
  return halfWrittenFilters(root).map((path) => ({ key: `cache ${path}`, kind: "cache", paths: [path], reason: "half-written" }));
}

/** The cgroup of this path in every hierarchy that has it, without the directories that were there before the container. */
function cgroupAt(path: string, kept: readonly string[]): CgroupRef {
  const facts = readHierarchies();
  const paths = mountpointsOf(facts)
    .map((mountpoint) => mountpoint + path)
    .filter((directory) => !kept.includes(directory) && host.access(directory, host.ACCESS.EXIST));
  return { version: facts.version, paths };
}

/**
 * Whether a cgroup belongs to a container of this state root: by which directory that is, since a path
 * is another one in another mount namespace.
 */
function isOfRoot(mark: ContainerMark, root: string): boolean {
  // A build that did not record the directory.
  if (mark.directory === undefined) return isSameRoot(mark.root, root);
  const here = rootDirectory(root);
  if (here !== undefined && mark.directory === here) return true;
  if (mark.root !== root) return false;
  return here === undefined ? isDeviceOf(mark.directory, root) : wasMadeAnew(mark, root);
}

/** The directory is gone: it was on the file system on which it would be made now, or in another mount namespace. */
function isDeviceOf(directory: string, root: string): boolean {
  for (let path = root; ; path = path.slice(0, path.lastIndexOf("/"))) {
    const found = host.stat(path === "" ? "/" : path);
    if (found) return directory.startsWith(`${found.dev}:`);
  }
}

/** Removed and made again: the directory of now is younger than the container. Otherwise both were there at once, each in a mount namespace of its own. */
function wasMadeAnew({ directory, created }: ContainerMark, root: string): boolean {
  const made = markedAt(root);
  return created !== undefined && made !== undefined && made > created && isDeviceOf(directory!, root);
}

/** The lock of ROOT/ID if nobody has it; undefined: a verb is at work on this id, or the directory has just gone or been made anew. */
export function tryLock(root: string, id: string): number | undefined {
  const directory = containerDirectory(root, id);
  let fd: number;
  try {
    fd = host.open(directory, host.O.RDONLY | host.O.DIRECTORY | host.O.NOFOLLOW);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
  if (host.flock(fd, host.LOCK.EX | host.LOCK.NB) && host.lstat(directory)?.ino === host.fstat(fd).ino) return fd;
  host.close(fd);
  return undefined;
}

/** What `runt gc` finds: things that runt has made and that belong to no container any more. */
/** One thing, and what gc thinks of it; `key` is the same when it is found again. `processes`: of others, who are left alone. Host pids. */
export type Remains = {
  readonly key: string;
  readonly id?: string;
  readonly paths: readonly string[];
  readonly processes?: readonly number[];
} /** `marking`: by what the mark on it is known to be the one that was found. */ & (
  | { readonly kind: "cgroup"; readonly id: string; readonly kept: readonly string[]; readonly unit?: string; readonly marking: Marking }
  | { readonly kind: "level" }
  /** A directory of the state root whose create did not come to an end; `created` as its record has it, if it has one. */
  | { readonly kind: "state"; readonly id: string; readonly inode: bigint; readonly created?: string }
  | { readonly kind: "cache" }
) & { readonly reason: string };

/** Something that might be one of them, but is not to be touched. */
export interface Kept {
  readonly kind: Remains["kind"];
  readonly id: string;
  readonly paths: readonly string[];
  readonly reason: string;
  /** Host pids. */
  readonly processes?: readonly number[];
}

interface Look {
  readonly remains: readonly Remains[];
  readonly kept: readonly Kept[];
  /** Other state roots that cgroups of runt name. */
  readonly otherRoots: readonly string[];
}
