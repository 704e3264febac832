import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { readHierarchies } from "../hierarchies.ts";
import type { CgroupHierarchies, CgroupHierarchy } from "../model.ts";
import { mark } from "./levels.ts";
import { parentOf, readIfThere } from "./tree.ts";

const MODE = 0o755;
/** Another container's delete may take an empty parent away between two mkdir. */
const ATTEMPTS = 16;

/**
 * Make the directory of a cgroup and every missing level above it. An existing directory is used as it is.
 * v1 cpuset: a new level gets its parent's cpus and mems (the kernel refuses tasks without them).
 * v2: the controllers are enabled from the root down to the parent.
 * @param unfinished gets the directory if finishCgroup has to be called before a process can join it; without it that is done at once
 * @returns whether the directory is new
 * @throws RuntError cgroup
 */
export function createCgroup(directory: string, unfinished?: UnfinishedCgroup[]): boolean {
  const facts = readHierarchies();
  const hierarchy = hierarchyOf(facts, directory);
  if (hierarchy === undefined) throw new RuntError("cgroup", `${directory} is not below a mounted cgroup hierarchy`);
  try {
    return facts.version === 2 ? createUnified(hierarchy, directory) : createV1(hierarchy, directory, unfinished);
  } catch (error) {
    throw named(directory, error);
  }
}

/** A directory of v1 that no process can join yet. */
export interface UnfinishedCgroup {
  readonly mountpoint: string;
  readonly directory: string;
  readonly isNew: boolean;
}

/** @throws RuntError cgroup */
export function finishCgroup({ mountpoint, directory, isNew }: UnfinishedCgroup): void {
  try {
    inheritCpuset(mountpoint, directory, isNew);
  } catch (error) {
    throw named(directory, error);
  }
}

function named(directory: string, error: unknown): RuntError {
  if (error instanceof RuntError) return error;
  return new RuntError("cgroup", `cannot create cgroup ${directory}: ${host.reason(error)}`, { cause: error });
}

/** Where the next directory is looked for first: those of a container come in the order of the hierarchies. */
let likely = 0;

function hierarchyOf({ hierarchies, unified }: CgroupHierarchies, directory: string): CgroupHierarchy | undefined {
  // On a hybrid host processes are only followed there: whatever controllers it has are left as they are.
  if (unified !== undefined && isBelow(directory, unified)) return { mountpoint: unified, controllers: [] };
  const { length } = hierarchies;
  for (let left = length; left > 0; left--) {
    const hierarchy = hierarchies[likely++ % length]!;
    if (isBelow(directory, hierarchy.mountpoint)) return hierarchy;
  }
  return undefined;
}

function isBelow(directory: string, mountpoint: string): boolean {
  return directory.startsWith(mountpoint) && directory[mountpoint.length] === "/";
}

function createV1({ controllers, mountpoint }: CgroupHierarchy, directory: string, unfinished?: UnfinishedCgroup[]): boolean {
  if (!controllers.includes("cpuset")) return createLevels(mountpoint, directory);
  const isNew = createLevels(mountpoint, directory, inheritCpuset);
  if (unfinished) unfinished.push({ mountpoint, directory, isNew });
  else inheritCpuset(mountpoint, directory, isNew);
  return isNew;
}

function createUnified(hierarchy: CgroupHierarchy, directory: string): boolean {
  const isNew = createLevels(hierarchy.mountpoint, directory);
  if (hierarchy.controllers.length > 0) enableControllers(hierarchy, parentOf(directory));
  joinThreadedTree(directory);
  return isNew;
}

/** The usual case first: only the last level is missing. `prepare` is for those above it. Returns whether the last one is new. */
function createLevels(mountpoint: string, directory: string, prepare?: typeof inheritCpuset): boolean {
  for (let attempt = 1; ; attempt++) {
    try {
      const isNew = host.tryMkdir(directory, MODE);
      if (isNew !== undefined) return isNew;
      // For its error.
      if (attempt === ATTEMPTS) host.mkdir(directory, MODE);
    } catch (error) {
      if (!hasGone(error) || attempt === ATTEMPTS) throw error;
    }
    for (const level of parents(mountpoint, directory)) {
      try {
        if (!host.tryMkdir(level, MODE)) continue;
        mark(level);
        prepare?.(mountpoint, level, true);
      } catch (error) {
        if (!hasGone(error)) throw error;
      }
    }
  }
}

/** A level was taken away by another container's delete: before it was opened, or while its files were in use. */
function hasGone(error: unknown): boolean {
  return host.isErrno(error, "ENOENT", "ENODEV");
}

/** The levels between the mount point and the directory, without both, from the top. */
function parents(mountpoint: string, directory: string): string[] {
  const levels: string[] = [];
  for (let at = directory.indexOf("/", mountpoint.length + 1); at >= 0; at = directory.indexOf("/", at + 1))
    levels.push(directory.slice(0, at));
  return levels;
}

const CPUSET_FILES = ["cpuset.cpus", "cpuset.mems"];

/** An empty file gets the text of the parent's. A level that somebody else has made and left empty is filled from the top first (runc does the same). */
function inheritCpuset(mountpoint: string, level: string, isNew: boolean): void {
  const parent = parentOf(level);
  for (const file of CPUSET_FILES) {
    const own = `${level}/${file}`;
    const inherited = `${parent}/${file}`;
    if (!isNew && host.readFile(own, undefined, true).trim() !== "") continue;
    if (copy(inherited, own) || parent === mountpoint) continue;
    inheritCpuset(mountpoint, parent, false);
    copy(inherited, own);
  }
}

/** Returns whether there is something to copy. */
function copy(from: string, to: string): boolean {
  const text = host.readFile(from, undefined, true).trim();
  if (text !== "") host.writeFile(to, text, host.O.WRONLY, 0);
  return text !== "";
}

/**
 * Hand every controller of the root down to the children of a level. One that has them all has got them from the levels above, which are not read
 * then; nor is it written.
 */
function enableControllers(hierarchy: CgroupHierarchy, level: string): void {
  const file = `${level}/cgroup.subtree_control`;
  const enabled = host.readFile(file, undefined, true).split(/\s+/);
  const missing = hierarchy.controllers.filter((controller) => !enabled.includes(controller)).map((controller) => `+${controller}`);
  if (missing.length === 0) return;
  if (level !== hierarchy.mountpoint) enableControllers(hierarchy, parentOf(level));
  if (tryWrite(file, missing.join(" "))) return;
  // One refused controller refuses the whole line. What is still missing then shows when a limit is written.
  for (const one of missing) tryWrite(file, one);
}

function tryWrite(file: string, text: string): boolean {
  try {
    host.writeFile(file, text, host.O.WRONLY, 0);
    return true;
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EINVAL", "EBUSY", "EOPNOTSUPP", "EPERM", "EACCES", "ENODEV")) return false;
    throw error;
  }
}

/** Below a threaded domain a new cgroup cannot take processes until it is threaded too; it has no domain controllers then. */
function joinThreadedTree(directory: string): void {
  const file = `${directory}/cgroup.type`;
  if (host.readFile(file, undefined, true).trim() === "domain invalid") host.writeFile(file, "threaded", host.O.WRONLY, 0);
}

/** What the kernel thinks safe to hand over, one name a line (Linux 4.15). */
const LIST = "/sys/kernel/cgroup/delegate";
const WITHOUT_LIST = ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"];
/** chown(2): leave the group as it is. */
const NO_CHANGE = 0xffff_ffff;

/**
 * Handing a v2 cgroup to the user of the container (config-linux, cgroup ownership). Give the
 * directory and its delegatable files to a user of the host. Files of the list that this cgroup does
 * not have are fine. Returns a warning when the caller lacks the right to. @throws RuntError cgroup
 */
export function delegateCgroup(directory: string, uid: number, list = LIST): string | undefined {
  const names = readIfThere(list)?.split("\n").filter(Boolean) ?? WITHOUT_LIST;
  for (const path of [directory, ...names.map((name) => `${directory}/${name}`)]) {
    try {
      host.chown(path, uid, NO_CHANGE);
    } catch (error) {
      if (host.isErrno(error, "ENOENT") && path !== directory) continue;
      if (host.isErrno(error, "EPERM")) return `the cgroup ${directory} cannot be given to uid ${uid}: ${host.reason(error)}`;
      throw new RuntError("cgroup", `cannot give ${path} to uid ${uid}: ${host.reason(error)}`, { cause: error });
    }
  }
  return undefined;
}
