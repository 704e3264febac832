/** Undo everything a state record names: processes, cgroups, state. Works for half-made containers too. */
import { deleteCgroup, isFrozen, killCgroup, thawForKill } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { phase } from "../host/tracing.ts";
import { removeDirectory, type StateRecord } from "../state/index.ts";
import { resctrl, systemd } from "./on-demand.ts";
import { awaitEnd, closePidfd, pidfdOf, signalProcess } from "./pidfd.ts";
import { initState } from "./status.ts";

/** How long the death of a killed init may take. */
const DEATH_TIMEOUT_MS = 10_000;
const SOON_MS = 100;

export function destroy(root: string, record: StateRecord): void {
  phase?.("destroy");
  if (record.cgroup) {
    if (initState(record) || !record.privatePid || record.phase === "creating") killCgroup(record.cgroup);
    if (record.cgroup.systemd) systemd().stopUnit(record.cgroup.systemd);
    deleteCgroup(record.cgroup);
  }
  if (record.resctrl) resctrl().releaseGroups(record.resctrl, record.phase === "creating");
  removeDirectory(root, record.id);
}

/** SIGKILL init and wait until it is gone (or a zombie that its parent has yet to reap). */
export function killInit(record: StateRecord): void {
  if (!initState(record)) return;
  const pidfd = openPidfd(record);
  if (pidfd === undefined) return;
  try {
    signalProcess(pidfd, record.pid, host.signalNumber("KILL"));
    if (record.cgroup && isFrozen(record.cgroup)) thawForKill(record.cgroup);
    const alive = () => initState(record);
    if (awaitEnd(pidfd, alive, SOON_MS)) return;
    // It may wait for processes that the container has frozen.
    if (record.cgroup) thawForKill(record.cgroup);
    if (!awaitEnd(pidfd, alive, DEATH_TIMEOUT_MS)) throw new RuntError("wrong-status", "container init still running");
  } catch (error) {
    if (!host.isErrno(error, "ESRCH")) throw error;
  } finally {
    closePidfd(pidfd);
  }
}

/** A descriptor of init, checked after opening that the pid was not reused; REFUSED of pidfd.ts; undefined when init is gone. */
export function openPidfd(record: StateRecord): number | undefined {
  // Still being made.
  if (record.pid <= 0) return undefined;
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
