/** Cgroups of the test in every hierarchy: which processes are in them, and whether they are still the same directories. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CGROUPS, cgroupOf, isUnified } from "./cgroups.ts";
import { systemdRuns } from "./systemd.ts";

/**
 * systemd of v1 takes everybody out of the blkio hierarchy, and empties it below delegated units too, when a unit with BlockIOWeight ends (seen with
 * systemd 252 and no other program). So that hierarchy does not show what runt does.
 */
const isEmptiedBySystemd = (path: string) => !isUnified && systemdRuns && path.endsWith("/blkio");

/** Mount points. */
export const HIERARCHIES: readonly string[] = isUnified
  ? [CGROUPS]
  : existsSync(CGROUPS)
    ? readdirSync(CGROUPS)
        .map((name) => join(CGROUPS, name))
        .filter((path) => existsSync(join(path, "cgroup.procs")) && !isEmptiedBySystemd(path))
    : [];

/**
 * Below which a test may make cgroups, "" for the root. systemd of v1 empties hierarchies that it no longer needs, and spares only what it has
 * handed over.
 */
export const DELEGATED = isUnified || !systemdRuns ? "" : cgroupOf(process.pid, "name=systemd").slice(join(CGROUPS, "systemd").length);

const CPUSET = ["cpuset.cpus", "cpuset.mems"];

/** `path`: absolute in the hierarchies, with all that is missing above it. */
export function makePlace(path: string, hierarchies = HIERARCHIES): void {
  for (const mountpoint of hierarchies) makeDirectory(mountpoint, mountpoint + path);
}

function makeDirectory(mountpoint: string, directory: string): void {
  if (directory === mountpoint || existsSync(directory)) return;
  makeDirectory(mountpoint, dirname(directory));
  mkdirSync(directory);
  for (const file of CPUSET) {
    const own = join(directory, file);
    if (!isUnified && existsSync(own)) writeFileSync(own, readFileSync(join(dirname(directory), file)));
  }
}

/** Move a process, by its number on the host, where this cgroup is there; `/` is the root. Returns in how many hierarchies. */
export function enterPlace(path: string, pid: number, hierarchies = HIERARCHIES): number {
  return hierarchies.filter((mountpoint) => {
    try {
      writeFileSync(join(mountpoint, path, "cgroup.procs"), String(pid));
      return true;
    } catch (error) {
      // The cgroup has been removed, or takes no processes.
      if (["ENOENT", "ENODEV", "EBUSY", "EOPNOTSUPP", "ENOSPC"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
      throw error;
    }
  }).length;
}

/** Identifies the directories, one line for each. */
export function identities(paths: readonly string[], hierarchies = HIERARCHIES): readonly string[] {
  return paths.flatMap((path) =>
    hierarchies.map((mountpoint) => {
      const status = statSync(mountpoint + path, { throwIfNoEntry: false });
      return `${mountpoint}${path} ${status?.ino ?? "is gone"}`;
    }),
  );
}

/** Remove a cgroup and all below. Processes in it, frozen or not, belong to the test and are killed. */
export async function removePlace(path: string): Promise<void> {
  const trees = HIERARCHIES.map((mountpoint) => treeOf(mountpoint + path));
  // Kill in all hierarchies first: a process that is frozen in one keeps its cgroups in the others busy.
  for (const directory of trees.flat()) killIn(directory);
  for (const directory of trees.flatMap((tree) => tree.toReversed())) await removeDirectory(directory);
}

/** The outermost first. */
function treeOf(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [directory, ...below.flatMap(({ name }) => treeOf(join(directory, name)))];
}

const ATTEMPTS = 100;

async function removeDirectory(directory: string): Promise<void> {
  for (let attempt = 1; existsSync(directory); attempt++) {
    try {
      rmdirSync(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || attempt === ATTEMPTS) throw error;
      await sleep(20);
      killIn(directory);
    }
  }
}

const THAW = [
  ["freezer.state", "THAWED"],
  ["cgroup.freeze", "0"],
] as const;

function killIn(directory: string): void {
  for (const pid of readFileSync(join(directory, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) {
    // 0 is a process that cannot be seen from here.
    if (Number(pid) > 0) kill(Number(pid));
  }
  thaw(directory);
}

function thaw(directory: string): void {
  for (const [file, thawed] of THAW) if (existsSync(join(directory, file))) writeFileSync(join(directory, file), thawed);
}

/** What is frozen in this cgroup or below goes on. */
export function thawPlace(path: string): void {
  for (const mountpoint of HIERARCHIES) for (const directory of treeOf(mountpoint + path)) thaw(directory);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
