/**
 * Undo everything a state record names: processes, cgroups, state. Works for half-made containers too. What is in the container's cgroup and is not
 * its own stays, and is no error.
 */
import { driverOf } from "../cgroup/drivers/index.ts";
import { deleteCgroup, isFrozen, killCgroup, type Left, lookAround, thawForKill } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { phase } from "../host/index.ts";
import { isolationOf } from "../isolation/index.ts";
import { initState, isOfAnotherRoot, removeDirectory, type StateRecord, type StateSummary } from "../state/index.ts";
import { releaseGroups } from "./cgroup-operations.ts";
import { runPoststop } from "./hooks.ts";
import { recoverNetDevices } from "./net-devices.ts";
import { ownerOf, warnLeft } from "./owner.ts";
import { awaitEnd, closePidfd, pidfdOf, signalProcess } from "./pidfd.ts";
import { detachRoot } from "./root-mount.ts";

/** How long the death of a killed init may take. */
const DEATH_TIMEOUT_MS = 10_000;
const SOON_MS = 100;
/** PID_MAX_LIMIT of include/linux/threads.h. */
const MOST_PID = 4 * 1024 * 1024;

/** `tell` gets the processes that are left alone, if there may be some. */
export function destroy(root: string, record: StateRecord, tell: (left: Left) => void = (left) => warnLeft(record.id, left)): void {
  phase?.("destroy", "execute");
  const { cgroup } = record;
  if (cgroup) {
    const owner = ownerOf(record, root);
    if (initState(record) || !record.privatePid || record.phase === "creating") killCgroup(cgroup, owner);
    driverOf(cgroup).release(cgroup, owner);
    // With init its whole PID namespace has ended.
    if (deleteCgroup(cgroup, owner, record.privatePid && record.phase !== "creating")) tell(remaining(lookAround(cgroup, owner)));
  }
  if (record.rootMount) detachRoot(record);
  if (record.resctrl) releaseGroups(record.resctrl, record.phase === "creating");
  removeDirectory(root, record.id);
}

/** What the container had has ended by then. */
function remaining({ stuck, others, unseen }: Left): Left {
  return { stuck: [], others: [...stuck, ...others], unseen };
}

/** SIGKILL init and wait until it is gone (or a zombie that its parent has yet to reap). `root`: others there may be in its machine. */
export function killInit(record: StateRecord, root?: string): void {
  if (!initState(record)) return;
  const pidfd = openPidfd(record);
  if (pidfd === undefined) return;
  const { cgroup } = record;
  const owner = ownerOf(record);
  try {
    // Processes that it leaves behind are found by its cgroups. Without marks on them, only the record knows which they are.
    if (cgroup && !record.privatePid) lookAround(cgroup, owner);
    signalProcess(pidfd, record.pid, host.signalNumber("KILL"));
    if (cgroup) driverOf(cgroup).approach();
    if (cgroup && isFrozen(cgroup)) thawForKill(cgroup, owner);
    const alive = () => initState(record);
    if (awaitEnd(pidfd, alive, SOON_MS)) return;
    if (root !== undefined) thawDependents(root, record);
    // It may wait for processes that the container has frozen.
    const isStuck = cgroup && !thawForKill(cgroup, owner) && cgroup.version === 1 && isFrozen(cgroup);
    if (isStuck || !awaitEnd(pidfd, alive, DEATH_TIMEOUT_MS)) throw stillRunning(record.id, isStuck);
  } catch (error) {
    if (!host.isErrno(error, "ESRCH")) throw error;
  } finally {
    closePidfd(pidfd);
  }
}

/**
 * Other containers end when this one does, and it waits for their processes: the monitor of a machine that was killed ends after all of its pid
 * namespace. On cgroup v1 one of them that is frozen takes no signal.
 */
export function thawDependents(root: string, container: StateSummary & Pick<StateRecord, "machine">): void {
  if (container.cgroup?.version !== 1) return;
  for (const record of isolationOf(container).dependents(root)) {
    if (record.cgroup && isFrozen(record.cgroup)) thawForKill(record.cgroup, ownerOf(record, root));
  }
}

function stillRunning(id: string, isStuck = false): RuntError {
  const message = "container init still running";
  if (!isStuck) return new RuntError("wrong-status", message);
  return new RuntError("wrong-status", `${message}: it is frozen with others in a cgroup that is not the container's`, {
    hint: `runt resume ${id} thaws all of them`,
  });
}

/** A descriptor of init, checked after opening that the pid was not reused; REFUSED of pidfd.ts; undefined when init is gone. */
export function openPidfd(record: StateSummary): number | undefined {
  // The container is still being made, or this is no process id: the record may hold any number.
  if (record.pid <= 0 || record.pid > MOST_PID) return undefined;
  let pidfd: number;
  try {
    pidfd = pidfdOf(record.pid);
  } catch (error) {
    if (host.isErrno(error, "ESRCH")) return undefined;
    throw error;
  }
  if (initState(record)) return pidfd;
  closePidfd(pidfd);
  return undefined;
}

/**
 * A container is undone by what its record names: delete and gc do it. Undoes everything that a record
 * names, in whatever state it is; under the lock. In a copy of its root that is the directory alone.
 * `tell` as for destroy.
 */
export function undoRecorded(root: string, record: StateRecord, tell?: Parameters<typeof destroy>[2]): void {
  if (isOfAnotherRoot(root, record)) {
    removeDirectory(root, record.id);
    return;
  }
  killInit(record, root);
  if (record.netDevices) recoverNetDevices(record.netDevices);
  destroy(root, record, tell);
  runPoststop(record);
}
