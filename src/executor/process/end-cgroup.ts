/**
 * Ends everything in cgroups that belong to one container or task, and removes them from the bottom up. The caller knows them by a name with a random part, so that they
 * are its own whatever else is lost.
 */
import { readdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ExecutorError } from "../errors.ts";
import { type Hierarchy, hierarchies, processesIn, readIfThere } from "./cgroups.ts";
import { isShortage, readProc } from "./procfs.ts";

/** How long SIGKILL, and a launch that was given up, may take. */
export const KILL_BOUND_MS = 10_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

/** A cgroup of one hierarchy. */
export interface Place {
  readonly directory: string;
  /** Below the mount point, as /proc/PID/cgroup has it. */
  readonly path: string;
}

/** The cgroup with this path in each hierarchy that has it. */
export function placesOf(path: string, found: readonly Hierarchy[] = hierarchies()): Place[] {
  return found.flatMap(({ mountpoint }) => {
    const directory = join(mountpoint, path);
    return isDirectory(directory) ? [{ directory, path: join("/", path) }] : [];
  });
}

/** Processes in these cgroups and below. */
export function occupantsOf(places: readonly Place[]): number[] {
  return processesIn(places.map(({ directory }) => directory));
}

/** The signal for the first process of a container with a pid namespace of its own; without one, for each process that no other one there has started. */
export function signalFirst(places: readonly Place[], signal: number): void {
  const pids = occupantsOf(places);
  const inits = pids.filter((pid) => /^NSpid:\t\d+.*\t1$/m.test(readProc(pid, "status") ?? ""));
  const parentOf = (pid: number) => Number(/^PPid:\t(\d+)$/m.exec(readProc(pid, "status") ?? "")?.[1]);
  for (const pid of inits.length > 0 ? inits : pids.filter((one) => !pids.includes(parentOf(one)))) signalIn(places, pid, signal);
}

/**
 * Kills what is in these cgroups and below, and removes them. Succeeds if they do not exist. Returns how many processes it has killed.
 * @throws ExecutorError stuck: processes or cgroups are left, or this process itself is in one of them
 */
export async function endCgroups(places: readonly Place[], patienceMs = KILL_BOUND_MS): Promise<number> {
  const deadline = performance.now() + patienceMs;
  const killed = new Set<number>();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      for (const pid of await killAll(places)) killed.add(pid);
    } catch (error) {
      // It may pass.
      if (!isShortage(error) || performance.now() > deadline) throw error;
    }
    const left = places.filter(({ directory }) => !isRemoved(directory));
    if (left.length === 0) return killed.size;
    if (performance.now() > deadline) throw stuck(left);
    await sleep(pause);
  }
}

function stuck(places: readonly Place[]): ExecutorError {
  const pids = occupantsOf(places);
  const [{ directory }] = places as [Place];
  const what = pids.length > 0 ? `processes that do not end: ${pids.join(", ")}` : "cgroups that cannot be removed";
  return new ExecutorError("stuck", `${directory} still contains ${what}`, { directory, pids });
}

/** Between the freeze and the thaw no process of v1 ends or is started, so that a pid is what it was when it was looked at. */
async function killAll(places: readonly Place[]): Promise<readonly number[]> {
  if (occupantsOf(places).length === 0) return [];
  const others = places.filter(({ directory }) => !isWritten(join(directory, "cgroup.kill"), "1"));
  try {
    for (const { directory } of others) await freeze(directory);
    const pids = occupantsOf(places);
    if (pids.includes(process.pid)) throw new ExecutorError("stuck", `this process is itself in ${places[0]!.directory}`);
    return pids.filter((pid) => signalIn(places, pid, "SIGKILL"));
  } finally {
    // A container may have been paused, or have frozen a cgroup of its own.
    for (const { directory } of others) for (const one of treeOf(directory).reverse()) thaw(one);
  }
}

/** Only a process that is in one of these cgroups at this moment. */
function signalIn(places: readonly Place[], pid: number, signal: number | NodeJS.Signals): boolean {
  const isIn = (line: string) => {
    const path = line.split(":").slice(2).join(":");
    return places.some((one) => path === one.path || path.startsWith(`${one.path}/`));
  };
  if (!(readProc(pid, "cgroup") ?? "").split("\n").some(isIn)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

/** The cgroup after those below it. */
function treeOf(directory: string): string[] {
  const below = entriesOf(directory).flatMap((name) => treeOf(join(directory, name)));
  return [...below, directory];
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/** Returns false if the kernel still holds it. @throws ExecutorError stuck: it can never be removed like this */
function isRemoved(directory: string): boolean {
  let isGone = true;
  for (const one of treeOf(directory)) {
    try {
      rmdirSync(one);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EBUSY" || code === "ENOTEMPTY") isGone = false;
      else if (code !== "ENOENT") throw new ExecutorError("stuck", `cannot remove the cgroup ${one}: ${code}`, { directory: one }, error);
    }
  }
  return isGone;
}

function isWritten(path: string, text: string): boolean {
  if (readIfThere(join(path, "../cgroup.events")) === undefined) return false;
  try {
    // Not made: v1 and older kernels have no such file.
    writeFileSync(path, text, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Longest wait for a process that the kernel cannot stop, because it waits for a device. */
const FREEZE_MS = 1_000;
const LOOK_MS = 1;

/** A cgroup is stopped as a whole, where its hierarchy can do that. Returns when every process in it has stopped: the kernel stops one after the other. */
export async function freeze(directory: string): Promise<void> {
  writeFreezer(directory, ["1", "FROZEN"]);
  const deadline = performance.now() + FREEZE_MS;
  while (isFreezing(directory) && performance.now() < deadline) await sleep(LOOK_MS);
}

export function thaw(directory: string): void {
  writeFreezer(directory, ["0", "THAWED"]);
}

/** cgroup.freeze of v2, the freezer of v1. */
function writeFreezer(directory: string, [v2, v1]: readonly [string, string]): void {
  for (const [file, word] of [
    ["cgroup.freeze", v2],
    ["freezer.state", v1],
  ] as const) {
    try {
      // Not made: another hierarchy has no such file.
      writeFileSync(join(directory, file), word, { flag: "r+" });
    } catch {}
  }
}

function isFreezing(directory: string): boolean {
  try {
    const events = readIfThere(join(directory, "cgroup.events")) ?? "";
    return /^frozen 0$/m.test(events) || readIfThere(join(directory, "freezer.state"))?.trim() === "FREEZING";
  } catch (error) {
    // Nobody can say, and it may pass.
    if (!isShortage(error)) throw error;
    return true;
  }
}
