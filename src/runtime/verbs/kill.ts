/** kill: a signal to init, or to everything in the container's cgroup. */
import { isFrozen, killCgroup, thawForKill } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { openPidfd, ownerOf, requireEnded, signalProcess, thawDependents, warnLeft } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { isolationOf } from "../isolation/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { readRecord, readTarget } from "../state/index.ts";

export function kill({ root }: RuntimeOptions, id: string, signal: number, all: boolean): void {
  const target = readTarget(root, id);
  // Without a PID namespace of its own, the death of init leaves the other processes alive: SIGKILL means all of them.
  const isKill = signal === host.signalNumber("KILL");
  const everyone = all || (isKill && !target.privatePid);
  if (everyone && target.cgroup) {
    const record = readRecord(root, id);
    const { cgroup = target.cgroup } = record;
    const owner = ownerOf(record, root);
    const left = isKill ? killCgroup(cgroup, owner) : isolationOf(record).signalAll(cgroup, owner, signal);
    if (isKill) thawDependents(root, record);
    warnLeft(id, left);
    requireEnded(left);
    return;
  }
  // While it is created there is no pid, either.
  const pidfd = openPidfd(target);
  if (pidfd === undefined) {
    if (all) return;
    throw new RuntError("wrong-status", WORDS.notRunning);
  }
  try {
    // On v2 a frozen process ends all the same.
    const frozen = isKill && target.cgroup?.version === 1 && isFrozen(target.cgroup) ? readRecord(root, id) : undefined;
    signalProcess(pidfd, target.pid, signal);
    if (frozen?.cgroup) thawForKill(frozen.cgroup, ownerOf(frozen, root));
    if (isKill) thawDependents(root, target);
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
