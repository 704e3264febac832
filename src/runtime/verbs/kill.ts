/** kill: a signal to init, or to everything in the container's cgroup. */
import { killCgroup, signalCgroup, thawForKill } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { openPidfd, ownerOf, signalProcess, warnLeft } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { deriveStatus, readRecord } from "../state/index.ts";

export function kill({ root }: RuntimeOptions, id: string, signal: number, all: boolean): void {
  const record = readRecord(root, id);
  const status = deriveStatus(root, record);
  // Without a PID namespace of its own, the death of init leaves the other processes alive: SIGKILL means all of them.
  const everyone = all || (signal === host.signalNumber("KILL") && !record.privatePid);
  if (everyone && record.cgroup) {
    const owner = ownerOf(record, root);
    const isKill = signal === host.signalNumber("KILL");
    warnLeft(id, isKill ? killCgroup(record.cgroup, owner) : signalCgroup(record.cgroup, owner, signal));
    return;
  }
  const pidfd = status === "stopped" ? undefined : openPidfd(record);
  if (pidfd === undefined) {
    if (all) return;
    throw new RuntError("wrong-status", WORDS.notRunning);
  }
  try {
    signalProcess(pidfd, record.pid, signal);
    if (status === "paused" && signal === host.signalNumber("KILL") && record.cgroup) thawForKill(record.cgroup, ownerOf(record, root));
  } catch (error) {
    if (host.isErrno(error, "ESRCH")) throw new RuntError("wrong-status", WORDS.notRunning);
    throw error;
  }
}

/** For a pattern: that a container which matches has stopped is no error. */
export function killRunning(options: RuntimeOptions, id: string, signal: number, all: boolean): void {
  try {
    kill(options, id, signal, all);
  } catch (error) {
    if (!(error instanceof RuntError && error.message === WORDS.notRunning)) throw error;
  }
}
