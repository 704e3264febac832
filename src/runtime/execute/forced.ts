/**
 * Takes the lock of a container that is to be removed by force from a process that does not release it. init is killed by its identity, which
 * ends what waits for the container. A runtime that goes on is asked to end (it undoes what it has begun), then killed: only one that is proven to
 * be at work on this very container.
 */
import { isFrozen, thawForKill } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { containerDirectory, holdersOf, locked, lockWithin, readRecord, type StateRecord } from "../state/index.ts";
import { openPidfd } from "./destroy.ts";
import { ownerOf } from "./owner.ts";
import { closePidfd, pidfdOf, signalProcess } from "./pidfd.ts";

/** How long a runtime that makes the container may go on, and one that does something else with it. */
const CREATING_MS = 500;
const WORKING_MS = 3_000;
/** How long it may take to undo what it has begun, and the kernel to end it. */
const UNDO_MS = 3_000;
const DEATH_MS = 3_000;

/** @throws RuntError id-unknown when the container is gone, id-locked when it stays locked */
export function takeLock(root: string, id: string): number {
  const directory = containerDirectory(root, id);
  const record = whatIsKnown(root, id);
  if (record) killEarly(root, record);
  return (
    lockWithin(directory, record && record.pid > 0 ? WORKING_MS : CREATING_MS) ??
    lockAfter("TERM", directory, UNDO_MS) ??
    lockAfter("KILL", directory, DEATH_MS) ??
    fail(directory)
  );
}

function fail(directory: string): never {
  throw locked(directory, WORKING_MS + UNDO_MS + DEATH_MS, true);
}

function whatIsKnown(root: string, id: string): StateRecord | undefined {
  try {
    return readRecord(root, id, true);
  } catch (error) {
    if (error instanceof RuntError && error.code !== "id-unknown") return undefined;
    throw error;
  }
}

function killEarly(root: string, record: StateRecord): void {
  const pidfd = openPidfd(record);
  if (pidfd === undefined) return;
  try {
    signalProcess(pidfd, record.pid, host.signalNumber("KILL"));
    if (record.cgroup && isFrozen(record.cgroup)) thawForKill(record.cgroup, ownerOf(record, root));
  } catch (error) {
    if (!host.isErrno(error, "ESRCH")) throw error;
  } finally {
    closePidfd(pidfd);
  }
}

function lockAfter(signal: "TERM" | "KILL", directory: string, milliseconds: number): number | undefined {
  for (const pid of holdersOf(directory)) end(pid, directory, signal);
  return lockWithin(directory, milliseconds);
}

/** The descriptor is of this process before it is looked at: the number may be another one's by then. */
function end(pid: number, directory: string, signal: "TERM" | "KILL"): void {
  try {
    const pidfd = pidfdOf(pid);
    try {
      if (isRunt(pid) && holds(pid, directory)) signalProcess(pidfd, pid, host.signalNumber(signal));
    } finally {
      closePidfd(pidfd);
    }
  } catch (error) {
    // It has ended, or is another user's.
    if (!host.isErrno(error, "ESRCH", "ENOENT", "EACCES", "EPERM")) throw error;
  }
}

/** This very file, what stood at its path before an upgrade, or the helper that a runtime becomes. */
function isRunt(pid: number): boolean {
  const [its, own] = [host.stat(`/proc/${pid}/exe`), host.stat("/proc/self/exe")];
  if (its && own && its.ino === own.ino && its.dev === own.dev) return true;
  const path = host.readlink(`/proc/${pid}/exe`);
  const replaced = path.replace(/ \(deleted\)$/, "");
  return replaced === host.readlink("/proc/self/exe").replace(/ \(deleted\)$/, "") || replaced === "/memfd:runt-init";
}

/** One of its descriptors is this directory, and the lock hangs on that (proc_pid_fdinfo(5)). */
function holds(pid: number, directory: string): boolean {
  const wanted = host.stat(directory);
  return host.readdir(`/proc/${pid}/fd`).some((fd) => {
    const found = wanted && host.stat(`/proc/${pid}/fd/${fd}`);
    if (!wanted || !found || found.ino !== wanted.ino || found.dev !== wanted.dev) return false;
    return /^lock:.*\bFLOCK\b/m.test(host.readFile(`/proc/${pid}/fdinfo/${fd}`, undefined, true));
  });
}
