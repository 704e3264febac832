/** Makes and removes the cgroup of one task, in every hierarchy that containers use. */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { cgroupVersion, ExecutorError, endCgroups, type Hierarchy, hierarchies, occupantsOf, placesOf } from "../../executor/index.ts";

/** The message contains the path and the kernel's error. */
export class CgroupError extends Error {
  override readonly name = "CgroupError";
}

/** The random part of a cgroup's name, which follows the id of the task. */
const SUFFIX = /^-[0-9a-f]{12}$/;

/**
 * Makes the cgroup and writes its limits. May be repeated: directories that exist are used, because the name is unique (TaskRecord.cgroup).
 * @param path absolute, below each hierarchy @throws CgroupError
 */
export function makeTaskCgroup(path: string, limits: readonly LimitWrite[], found: readonly Hierarchy[] = hierarchies()): void {
  const used = usedOf(found);
  const isThere = ({ controller }: LimitWrite) => used.some((one) => hasController(one, controller));
  for (const limit of limits) {
    if (!limit.isOptional && !isThere(limit))
      throw new CgroupError(`no cgroup hierarchy of this host has the controller ${limit.controller}, which a limit of the task needs`);
  }
  for (const hierarchy of used) {
    const own = limits.filter(({ controller }) => hasController(hierarchy, controller));
    withContext(`make the cgroup ${hierarchy.mountpoint}${path}`, () => {
      makeDirectory(hierarchy, path, (level) => enableControllers(hierarchy, level, own));
      writeFiles(`${hierarchy.mountpoint}${path}`, own);
    });
  }
  for (const hierarchy of besideOf(found)) makeBeside(hierarchy, path);
}

/**
 * On a hybrid host the runtime also puts containers into the v2 hierarchy, if it can be written. The levels above them are made here, so that they
 * are removed with the task.
 */
function makeBeside(hierarchy: Hierarchy, path: string): void {
  try {
    makeDirectory(hierarchy, path, () => {});
  } catch (error) {
    const code = codeOf(error);
    if (code !== "EROFS" && code !== "EACCES" && code !== "EPERM")
      throw new CgroupError(`cannot make the cgroup ${hierarchy.mountpoint}${path}: ${code}`, { cause: error });
  }
}

/**
 * Removes the cgroup with all cgroups in it, and empty levels above it that an engine has made. Processes in it are killed: no other task has a
 * cgroup of this name. Succeeds if it does not exist.
 * @throws CgroupError: it could not be removed
 */
export async function removeTaskCgroup(path: string, found: readonly Hierarchy[] = hierarchies()): Promise<void> {
  await ended(path, () => endCgroups(placesOf(path, found)));
  for (const hierarchy of [...usedOf(found), ...besideOf(found)])
    withContext(`remove the cgroups above ${path}`, () => removeLevelsAbove(hierarchy, path));
}

/** Converts ExecutorError of `end` to CgroupError with the same message. @throws CgroupError */
export async function ended(what: string, end: () => Promise<unknown>): Promise<void> {
  try {
    await end();
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
    throw new CgroupError(`cannot remove the cgroup ${what}: ${error.message}`, { cause: error });
  }
}

/**
 * Removes the cgroups of a task without a record, found by name (TaskRecord.cgroup). Succeeds if there are none. Another engine with the same
 * parent cgroup may have a task of this id, so that the name alone does not prove to whom the processes in it belong.
 * @throws CgroupError if processes are still in one
 */
export async function removeTaskCgroupsOf(parent: string, id: string, found: readonly Hierarchy[] = hierarchies()): Promise<void> {
  const isOwn = (name: string) => name.startsWith(`${id}-`) && SUFFIX.test(name.slice(id.length));
  const names = new Set(usedOf(found).flatMap(({ mountpoint }) => directoriesIn(`${mountpoint}${parent}`).filter(isOwn)));
  for (const name of names) {
    const path = `${parent}/${name}`;
    const pids = occupantsOf(placesOf(path, found));
    if (pids.length > 0) throw new CgroupError(`cannot remove the cgroup ${path}: it still contains processes: ${pids.join(", ")}`);
    await removeTaskCgroup(path, found);
  }
}

/**
 * Removes `path` and the levels above it that are empty and were made by an engine, after a container directly below `path` has ended.
 * @throws CgroupError
 */
export function removeEmptyLevels(path: string, found: readonly Hierarchy[] = hierarchies()): void {
  for (const hierarchy of [...usedOf(found), ...besideOf(found)])
    withContext(`remove the cgroup ${hierarchy.mountpoint}${path}`, () => removeLevelsAbove(hierarchy, `${path}/any`));
}

/** The hierarchies that the runtime uses: all of v1, or the one of v2. @throws CgroupError: there is none */
function usedOf(found: readonly Hierarchy[]): Hierarchy[] {
  const version = cgroupVersion(found);
  const used = found.filter((one) => one.version === version);
  if (used.length === 0) throw new CgroupError("this host has no cgroup hierarchy mounted");
  return version === 1 ? used : used.slice(0, 1);
}

/** The v2 hierarchy on a host whose controllers are in v1. */
function besideOf(found: readonly Hierarchy[]): Hierarchy[] {
  return cgroupVersion(found) === 1 ? found.filter(({ version }) => version === 2) : [];
}

function hasController({ version, controllers, mountpoint }: Hierarchy, name: string): boolean {
  return version === 1 ? controllers.includes(name) : wordsIn(`${mountpoint}/cgroup.controllers`).includes(name);
}

/** On v2, enables the controllers of the limits for the children of a level. Otherwise the files of the limits do not exist. */
function enableControllers({ version }: Hierarchy, level: string, limits: readonly LimitWrite[]): void {
  if (version === 1) return;
  const enabled = wordsIn(`${level}/cgroup.subtree_control`);
  const missing = [...new Set(limits.map(({ controller }) => controller))].filter((name) => !enabled.includes(name));
  writeFiles(
    level,
    missing.map((controller) => ({ controller, file: "cgroup.subtree_control", value: `+${controller}` })),
  );
}

function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function wordsIn(file: string): string[] {
  return readFileSync(file, "utf8").trim().split(/\s+/);
}

function withContext<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof CgroupWriteError) throw new CgroupError(error.message, { cause: error });
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new CgroupError(`cannot ${what}: ${code}`, { cause: error });
  }
}

/**
 * Directories of the cgroup hierarchies. The engine marks each level that it makes above the tasks' cgroups with the sticky bit, because Node
 * cannot set extended attributes. The bit has no meaning for a cgroup, and mkdir(2) sets it. A level without the bit was made by another program,
 * and is never removed.
 */
const STICKY = 0o1000;
const MODE = 0o755;
/** Number of attempts to make a directory. Another engine may remove an empty level between two calls. */
const ATTEMPTS = 16;

/** The levels above `path` from the top: "/a/b/c" has "/a" and "/a/b". */
function levelsAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === "/" ? [] : [...levelsAbove(parent), parent];
}

/**
 * Makes the directory `path` (absolute within the hierarchy) and the missing levels above it.
 * Existing directories are used. `prepare` is called for each level above it, from the top.
 * @throws the errors of mkdir(2)
 */
function makeDirectory({ mountpoint }: Hierarchy, path: string, prepare: (directory: string) => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      prepare(mountpoint);
      for (const level of levelsAbove(path)) {
        mkdirOnce(`${mountpoint}${level}`, STICKY | MODE);
        prepare(`${mountpoint}${level}`);
      }
      mkdirOnce(`${mountpoint}${path}`, MODE);
      return;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === ATTEMPTS) throw error;
    }
  }
}

function mkdirOnce(directory: string, mode: number): void {
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw error;
  }
  // chmod is needed because mkdir applies the umask of the process.
  chmodSync(directory, mode);
}

/** Returns false if the cgroup contains processes or cgroups. A missing directory counts as removed. */
function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return true;
    if (code === "EBUSY" || code === "ENOTEMPTY") return false;
    throw error;
  }
}

/** Removes empty levels above `path` that an engine has made. */
function removeLevelsAbove({ mountpoint }: Hierarchy, path: string): void {
  for (const level of levelsAbove(path).reverse()) {
    const directory = `${mountpoint}${level}`;
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if ((found.mode & STICKY) === 0 || !tryRemove(directory)) return;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

// Writes files of one cgroup. It keeps a descriptor of the directory, so that it never writes to a
// new cgroup of the same name.

/** A limit in the format of the kernel. */
export interface LimitWrite {
  /** Such as "memory", as in the hierarchies of v1 and in cgroup.controllers of v2. */
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  /** A kernel without this controller or file already behaves as the value asks, so that its absence is no error. */
  readonly isOptional?: boolean;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** @throws CgroupWriteError */
function writeFiles(directory: string, writes: readonly LimitWrite[]): void {
  if (writes.length === 0) return;
  const fd = openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const one of writes) write(fd, directory, one);
  } finally {
    closeSync(fd);
  }
}

function write(directory: number, path: string, { file, value, isOptional = false }: LimitWrite): void {
  try {
    // Without O_CREAT, because the file of a missing controller does not exist and must not be created.
    const fd = openSync(`/proc/self/fd/${directory}/${file}`, O_WRONLY | O_NOFOLLOW);
    try {
      writeSync(fd, value);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && isOptional) return;
    // The error of the system call is not kept as the cause, because its message has a path through the descriptor, which the reader would not
    // recognise.
    throw new CgroupWriteError(`cannot write ${value} to ${path}/${file}: ${code}`);
  }
}

class CgroupWriteError extends Error {}

const PAGES = "/sys/kernel/mm/hugepages";
const UNITS = ["KB", "MB", "GB"];

/** Sizes of huge pages for which the kernel has a limit, such as "2MB". Empty: there are no such pages, or the controller is missing. */
export function limitedPages(found: readonly Hierarchy[] = hierarchies(), directory = PAGES): string[] {
  if (!usedOf(found).some((one) => hasController(one, "hugetlb")) || !existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    return kilobytes === undefined ? [] : pageSizeOf(Number(kilobytes));
  });
}

function pageSizeOf(kilobytes: number): string {
  let [count, unit] = [kilobytes, 0];
  for (; count >= 1024 && unit < UNITS.length - 1; count /= 1024) unit++;
  return `${count}${UNITS[unit]}`;
}
