/** Makes and removes the cgroup of one task, in every hierarchy that containers use. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { cgroupVersion, type Hierarchy, hierarchies } from "../../executor/index.ts";
import { codeOf, makeDirectory, removeLevelsAbove, tryRemove } from "./levels.ts";
import { CgroupWriteError, type LimitWrite, writeFiles } from "./write.ts";

/** The message contains the path and the kernel's error. */
export class CgroupError extends Error {
  override readonly name = "CgroupError";
}

/** The random part of a cgroup's name, which follows the id of the task. */
const SUFFIX = /^-[0-9a-f]{12}$/;
const REMOVE_TRIES = 20;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

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
    explained(`make the cgroup ${hierarchy.mountpoint}${path}`, () => {
      makeDirectory(hierarchy, path, (level) => enableControllers(hierarchy, level, own));
      writeFiles(`${hierarchy.mountpoint}${path}`, own);
    });
  }
}

/**
 * Removes the cgroup, and empty levels above it that an engine has made. Succeeds if it does not exist.
 * @throws CgroupError if processes are still in it
 */
export async function removeTaskCgroup(path: string, found: readonly Hierarchy[] = hierarchies()): Promise<void> {
  for (const hierarchy of usedOf(found)) {
    const directory = `${hierarchy.mountpoint}${path}`;
    let pause = FIRST_PAUSE_MS;
    // The kernel releases a cgroup a moment after its last process has ended.
    for (let left = REMOVE_TRIES; !explained(`remove the cgroup ${directory}`, () => tryRemove(directory)); left--) {
      if (left === 0) throw new CgroupError(`cannot remove the cgroup ${directory}: it still contains processes or cgroups`);
      await sleep(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
    explained(`remove the cgroups above ${directory}`, () => removeLevelsAbove(hierarchy, path));
  }
}

/**
 * Removes the cgroups of a task without a record, found by name (TaskRecord.cgroup). Succeeds if there are none.
 * @throws CgroupError if processes are still in one
 */
export async function removeTaskCgroupsOf(parent: string, id: string, found: readonly Hierarchy[] = hierarchies()): Promise<void> {
  const isOwn = (name: string) => name.startsWith(`${id}-`) && SUFFIX.test(name.slice(id.length));
  const names = usedOf(found).flatMap(({ mountpoint }) => directoriesIn(`${mountpoint}${parent}`).filter(isOwn));
  for (const name of new Set(names)) await removeTaskCgroup(`${parent}/${name}`, found);
}

/** Removes empty levels down to `path` that an engine has made, after a container directly below it has ended. @throws CgroupError */
export function removeEmptyLevels(path: string, found: readonly Hierarchy[] = hierarchies()): void {
  for (const hierarchy of usedOf(found))
    explained(`remove the cgroup ${hierarchy.mountpoint}${path}`, () => removeLevelsAbove(hierarchy, `${path}/any`));
}

/** The hierarchies that the runtime uses: all of v1, or the one of v2. @throws CgroupError: there is none */
function usedOf(found: readonly Hierarchy[]): Hierarchy[] {
  const version = cgroupVersion(found);
  const used = found.filter((one) => one.version === version);
  if (used.length === 0) throw new CgroupError("this host has no cgroup hierarchy mounted");
  return version === 1 ? used : used.slice(0, 1);
}

function hasController({ version, controllers, mountpoint }: Hierarchy, name: string): boolean {
  return version === 1 ? controllers.includes(name) : listed(`${mountpoint}/cgroup.controllers`).includes(name);
}

/** On v2, enables the controllers of the limits for the children of a level: without that the files of the limits do not exist. */
function enableControllers({ version }: Hierarchy, level: string, limits: readonly LimitWrite[]): void {
  if (version === 1) return;
  const enabled = listed(`${level}/cgroup.subtree_control`);
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

function listed(file: string): string[] {
  return readFileSync(file, "utf8").trim().split(/\s+/);
}

function explained<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof CgroupWriteError) throw new CgroupError(error.message, { cause: error });
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new CgroupError(`cannot ${what}: ${code}`, { cause: error });
  }
}
