/**
 * The one way to signal, freeze or thaw for the end of a container: nothing is done to a directory, or a process, before ../ownership.ts has said of
 * it, as it is then, that it is the container's.
 */
import * as host from "../../host/index.ts";
import { type Place, walk } from "../../host/index.ts";
import type { CgroupRef } from "../model.ts";
import type { Territory } from "../ownership.ts";
import { freezeFile, isFrozen } from "./freeze.ts";
import { ascending, census } from "./processes.ts";
import { signalListed } from "./signal.ts";
import { type Owner, survey } from "./survey.ts";
import { parentOf } from "./tree.ts";
import { waitForEvent } from "./wait.ts";

const PAUSE_MS = 5;
/** From the first signal on. Where there are thousands of cgroups, or the host is busy, a look alone may take longer. */
const LONGEST_MS = 5_000;

/** Processes that are there and were not signalled. */
export interface Left {
  /** The container's, which do not end: stuck in the kernel, or forking faster than they can be killed without a freezer. Host pids, ascending. */
  readonly stuck: readonly number[];
  /** Processes of others, or of an unknown owner. */
  readonly others: readonly number[];
  /** How many there are of whom not even the pid can be seen from here. */
  readonly unseen: number;
}

function leftOf({ own, others, unseen }: Territory): Left {
  return { stuck: ascending(own), others: ascending(others), unseen: unseen.own + unseen.others };
}

/** Counts the processes in the container's directories, and does nothing else. */
export function lookAround(cgroup: CgroupRef, owner: Owner): Left {
  return leftOf(survey(cgroup, owner));
}

/** Waits until only the container's own processes are in its directories, for `milliseconds` at most, and signals nobody. False: others are in them. */
export function awaitOnlyOwn(cgroup: CgroupRef, owner: Owner, milliseconds: number): boolean {
  const deadline = host.monotonic() + milliseconds;
  for (;;) {
    const { others, unseen } = lookAround(cgroup, owner);
    if (others.length + unseen === 0) return true;
    if (host.monotonic() > deadline) return false;
    host.sleep(PAUSE_MS);
  }
}

/** SIGKILL for every process of the container, at least once, and wait until they are gone, for five seconds at most. */
export function killCgroup(cgroup: CgroupRef, owner: Owner): Left {
  let deadline = Number.POSITIVE_INFINITY;
  for (let isFirst = true; ; isFirst = false) {
    const found = survey(cgroup, owner);
    const nobody = found.own.size === 0 && found.unseen.own === 0;
    if (nobody || host.monotonic() > deadline) return leftOf(found);
    if (!killUnified(cgroup, found)) killFrozen(cgroup, owner, found);
    if (isFirst) deadline = host.monotonic() + LONGEST_MS;
    pause(cgroup, found, isFirst ? 1 : PAUSE_MS);
  }
}

function pause({ version, paths: [path] }: CgroupRef, { standing }: Territory, milliseconds: number): void {
  if (version === 2 && path !== undefined && standing.get(path) === "own") waitForEvent(path, "populated 0", milliseconds);
  else host.sleep(milliseconds);
}

/** Send a signal to every process of the container once. */
export function signalCgroup(cgroup: CgroupRef, owner: Owner, signal: number): Left {
  const found = survey(cgroup, owner);
  signalOwn(cgroup, owner, found, signal);
  return { ...leftOf(found), stuck: [] };
}

function signalOwn(cgroup: CgroupRef, owner: Owner, { own }: Territory, signal: number): void {
  signalListed([...own], signal, () => survey(cgroup, owner).own);
}

/** cgroup.kill (Linux 5.14) takes children and forks along; false where there is none, or the cgroup is threaded, or not the container's. */
function killUnified({ version, paths: [path] }: CgroupRef, { standing }: Territory): boolean {
  if (version === 1 || path === undefined || standing.get(path) !== "own") return false;
  try {
    host.writeFile(`${path}/cgroup.kill`, "1", host.O.WRONLY, 0);
    return true;
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV", "EOPNOTSUPP")) return false;
    throw error;
  }
}

/** Frozen processes cannot fork; the signal takes effect as they thaw. */
function killFrozen(cgroup: CgroupRef, owner: Owner, found: Territory): void {
  const file = freezerOf(cgroup, found);
  if (file !== undefined) setFrozen(cgroup, file, true);
  try {
    signalOwn(cgroup, owner, found, host.SIGNALS.KILL);
  } finally {
    if (file !== undefined) setFrozen(cgroup, file, false);
    else thawForKill(cgroup, owner, found);
  }
}

function freezerOf(cgroup: CgroupRef, { standing }: Territory): string | undefined {
  const file = freezeFile(cgroup);
  return file !== undefined && standing.get(parentOf(file)) === "own" ? file : undefined;
}

/** Thaws at every level, for the container may have frozen cgroups of its own. Best effort and without waiting: what does not stop only costs another round. */
export function setFrozen({ version }: CgroupRef, file: string, frozen: boolean): void {
  const directory = parentOf(file);
  const name = file.slice(directory.length);
  const value = version === 2 ? (frozen ? "1" : "0") : frozen ? "FROZEN" : "THAWED";
  const write = ({ path }: Pick<Place, "path">): boolean => {
    try {
      host.writeFile(path + name, value, host.O.WRONLY, 0);
    } catch (error) {
      if (!(error instanceof Error && "errno" in error)) throw error;
    }
    return true;
  };
  try {
    // What is below a frozen cgroup is frozen with it. A walk that is cut short must leave nothing frozen that was not.
    if (frozen) write({ path: directory });
    else walk(directory, { enter: write });
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENODEV", "ETIMEDOUT")) throw error;
  }
}

/**
 * SIGKILL sent to a frozen v1 process waits for the thaw: let a paused container's processes run to their end. In a cgroup that was there before the
 * container others may be frozen for a reason of their own: it is thawed only when all in it are of the PID namespace that ends with init. False: it
 * is left as it is.
 */
export function thawForKill(cgroup: CgroupRef, owner: Owner, found = survey(cgroup, owner)): boolean {
  const file = freezerOf(cgroup, found) ?? keptFreezer(cgroup, owner);
  if (file !== undefined) setFrozen(cgroup, file, false);
  return file !== undefined;
}

function keptFreezer(cgroup: CgroupRef, owner: Owner): string | undefined {
  const file = freezeFile(cgroup);
  const init = owner.init();
  if (file === undefined || init === 0 || !isFrozen(cgroup) || !cgroup.kept?.includes(parentOf(file))) return undefined;
  const { pids, unseen } = census(parentOf(file));
  const namespace = pidNamespace(init);
  if (namespace === undefined || namespace === pidNamespace("self") || unseen > 0) return undefined;
  return [...pids].every((pid) => pidNamespace(pid) === namespace) ? file : undefined;
}

function pidNamespace(process: number | "self"): bigint | undefined {
  try {
    return host.stat(`/proc/${process}/ns/pid`)?.ino;
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ESRCH")) return undefined;
    throw error;
  }
}
