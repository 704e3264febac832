/**
 * The cgroup of a task if systemd manages cgroups: a slice with the task's limits, one level below the engine's slice. Dashes in the names of tasks
 * are escaped, because systemd reads a dash in the name of a slice as a level. Source: systemd.slice(5), systemd.unit(5).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cgroupVersion, endCgroups, hierarchies, placesOf, slicePath } from "../../executor/index.ts";
import { runProgram } from "../../node/index.ts";
import { CgroupError, ended } from "./task-cgroup.ts";

/** In milliseconds; longer than runt waits for a job of systemd. */
const CALL_MS = 60_000;
const SLICE = ".slice";
const EMPTY_MS = 2_000;
const LOOK_MS = 20;

export function isSlice(cgroup: string): boolean {
  return cgroup.endsWith(SLICE) && !cgroup.startsWith("/");
}

/** @throws CgroupError: this host lacks what slices need */
export function checkSystemd(): void {
  // Source: sd_booted(3).
  if (!existsSync("/run/systemd/system")) throw new CgroupError("systemd does not run on this host: it cannot manage the cgroups of tasks");
  if (cgroupVersion() === 1) throw new CgroupError("systemd manages the cgroups of tasks on cgroup v2 only, and this host has v1");
}

/** The slice of the engine: "/runtd" becomes "runtd.slice", and "/a/b" becomes "a-b.slice", which systemd puts into "a.slice". */
export function parentSlice(parent: string): string {
  return `${parent.split("/").filter(Boolean).map(escaped).join("-")}${SLICE}`;
}

/** The slice of a task, directly below the engine's slice. */
export function taskSlice(parent: string, name: string): string {
  return `${parentSlice(parent).slice(0, -SLICE.length)}-${escaped(name)}${SLICE}`;
}

/** Makes the slice. An existing slice gets these limits. @param binary path of the runt executable @throws CgroupError */
export async function makeTaskSlice(binary: string, name: string, properties: readonly string[]): Promise<void> {
  await inTurn(() => call(binary, ["start", name, ...properties]));
}

/**
 * Removes the slice, and kills processes that are still in it. No other task has a slice of this name. Succeeds if it does not exist.
 * @throws CgroupError
 */
export async function removeTaskSlice(binary: string, name: string): Promise<void> {
  await inTurn(async () => {
    await untilEmpty(name);
    await call(binary, ["stop", name]);
    // The engine's own slice was started together with the first task's slice, and is stopped when it is empty.
    const above = `${name.slice(0, name.lastIndexOf("-"))}${SLICE}`;
    if (directoriesOf(above).every(isEmpty)) await call(binary, ["stop", above]);
  });
}

/** Waits until the slice is empty: the kernel and systemd need a moment after its last process has ended. */
async function untilEmpty(name: string): Promise<void> {
  const deadline = performance.now() + EMPTY_MS;
  while (directoriesOf(name).some(isPopulated)) {
    if (performance.now() > deadline) return ended(name, () => endCgroups(placesOf(slicePath(name))));
    await sleep(LOOK_MS);
  }
}

let last: Promise<unknown> = Promise.resolve();

/** Serialises starts and stops: stopping a slice would cancel the start of a slice below it. */
function inTurn(action: () => Promise<void>): Promise<void> {
  const own = last.then(action);
  last = own.catch(() => {});
  return own;
}

/** Removes the slices of a task without a record, found by name. @param parent slice of the engine @throws CgroupError */
export async function removeTaskSlicesOf(binary: string, parent: string, id: string): Promise<void> {
  const start = `${parent.slice(0, -SLICE.length)}-${escaped(`${id}-`)}`;
  const found = directoriesOf(parent).flatMap((directory) => readdirSync(directory));
  for (const name of new Set(found))
    if (name.startsWith(start) && /^[0-9a-f]{12}\.slice$/.test(name.slice(start.length))) await removeTaskSlice(binary, name);
}

/** The directories of a slice that exist, one in each hierarchy. */
function directoriesOf(name: string): string[] {
  return hierarchies()
    .map(({ mountpoint }) => join(mountpoint, slicePath(name)))
    .filter((directory) => existsSync(directory));
}

function isEmpty(directory: string): boolean {
  return readdirSync(directory, { withFileTypes: true }).every((entry) => !entry.isDirectory());
}

function isPopulated(directory: string): boolean {
  return /^populated 1$/m.test(readFileSync(join(directory, "cgroup.events"), "utf8"));
}

/** Escapes one part of a name like systemd-escape(1). */
function escaped(part: string): string {
  return part.replace(/[^\w.:]|^\./g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

async function call(binary: string, words: readonly string[]): Promise<void> {
  const { stderr, message, error } = await runProgram(binary, ["service", "slice", ...words], { timeoutMs: CALL_MS });
  if (message === "") return;
  const why = stderr.trim().replace(/^runt: /, "") || message;
  throw new CgroupError(`cannot ${words[0]} the slice ${words[1]}: ${why}`, { cause: error });
}
