import * as host from "../../host/index.ts";
import type { CgroupRef } from "../facts.ts";
import { freezeFile } from "./freeze.ts";
import { cgroupProcesses } from "./processes.ts";
import { children, parentOf } from "./tree.ts";
import { waitForEvent } from "./wait.ts";

const SIGKILL = 9;
const ROUNDS = 200;
const PAUSE_MS = 5;

/**
 * SIGKILL for every process of the container's cgroup, and wait until they are gone. Returns false if some are still there
 * after about a second (stuck in the kernel, or forking faster than they can be killed without a freezer).
 */
export function killCgroup(cgroup: CgroupRef): boolean {
  for (let round = 0; round < ROUNDS; round++) {
    if (cgroupProcesses(cgroup).length === 0) return true;
    if (!killUnified(cgroup)) killFrozen(cgroup);
    pause(cgroup, round === 0 ? 1 : PAUSE_MS);
  }
  return cgroupProcesses(cgroup).length === 0;
}

function pause({ version, paths: [path] }: CgroupRef, milliseconds: number): void {
  if (version === 2 && path !== undefined) waitForEvent(path, "populated 0", milliseconds);
  else host.sleep(milliseconds);
}

/** Send a signal to every process of the container once. */
export function signalCgroup(cgroup: CgroupRef, signal: number): void {
  for (const pid of cgroupProcesses(cgroup)) {
    try {
      host.kill(pid, signal);
    } catch (error) {
      if (!host.isErrno(error, "ESRCH")) throw error;
    }
  }
}

/** cgroup.kill (Linux 5.14) takes children and forks along; false where there is none, or the cgroup is threaded. */
function killUnified({ version, paths }: CgroupRef): boolean {
  if (version === 1 || paths[0] === undefined) return false;
  try {
    host.writeFile(`${paths[0]}/cgroup.kill`, "1", host.O.WRONLY, 0);
    return true;
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV", "EOPNOTSUPP")) return false;
    throw error;
  }
}

/** Frozen processes cannot fork; the signal takes effect as they thaw. */
function killFrozen(cgroup: CgroupRef): void {
  setFrozen(cgroup, true);
  try {
    signalCgroup(cgroup, SIGKILL);
  } finally {
    setFrozen(cgroup, false);
  }
}

/** At every level, for the container may have frozen cgroups of its own. Best effort and without waiting: what does not stop only costs another round. */
function setFrozen(cgroup: CgroupRef, frozen: boolean): void {
  const file = freezeFile(cgroup);
  if (file === undefined) return;
  const directory = parentOf(file);
  const value = cgroup.version === 2 ? (frozen ? "1" : "0") : frozen ? "FROZEN" : "THAWED";
  writeBelow(directory, file.slice(directory.length), value);
}

function writeBelow(directory: string, name: string, value: string): void {
  try {
    host.writeFile(directory + name, value, host.O.WRONLY, 0);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENODEV", "EBUSY")) throw error;
  }
  for (const child of children(directory)) writeBelow(child, name, value);
}

/** SIGKILL sent to a frozen v1 process waits for the thaw: let a paused container's processes run to their end. */
export function thawForKill(cgroup: CgroupRef): void {
  setFrozen(cgroup, false);
}
