/** delete: remove what is left of a stopped container; forced, of any container. */
import { RuntError } from "../errors/index.ts";
import { isExiting, takeLock, undoRecorded } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import {
  containerDirectory,
  deriveStatus,
  lock,
  lockWithin,
  readAgain,
  readRecord,
  readSummary,
  removeRemains,
  type StateRecord,
} from "../state/index.ts";

/** @param state descriptor of the state directory, locked by the caller. Nothing is done if it is no longer the container's directory. */
export function remove(options: RuntimeOptions, id: string, force: boolean, state?: number): void {
  const directory = containerDirectory(options.root, id);
  if (force && !host.lstat(directory)) return;
  if (state !== undefined && !isBehind(state, directory)) return;
  const record = lockedRecord(options, id, force, state);
  if (!record) return;
  const status = deriveStatus(options.root, record, true);
  // A program that has ended is not running, though the kernel may take milliseconds to end its PID namespace: that is waited for.
  if (!force && status !== "stopped" && status !== "created" && !(status === "running" && isExiting(record.pid))) {
    throw new RuntError("wrong-status", `cannot delete container ${id} that is not stopped: ${status}`);
  }
  undoRecorded(options.root, record);
}

/** Nothing says what it is: it is removed if it is proven to be runt's. */
const UNRECORDED: ReadonlySet<string> = new Set(["state-unreadable", "state-foreign"]);

/** The record, read again under the lock. Forced: remains without a readable record are removed here. */
function lockedRecord({ root }: RuntimeOptions, id: string, force: boolean, state?: number): StateRecord | undefined {
  try {
    if (!force) readSummary(root, id);
    if (state === undefined) take(root, id, force);
    return force ? readRecord(root, id, true) : readAgain(root, id);
  } catch (error) {
    if (!force) throw error;
    if (error instanceof RuntError && UNRECORDED.has(error.code)) removeRemains(root, id, state !== undefined);
    else if (!(error instanceof RuntError && error.code === "id-unknown") && !host.isErrno(error, "ENOENT")) throw error;
    return undefined;
  }
}

function take(root: string, id: string, force: boolean): void {
  const directory = containerDirectory(root, id);
  if (!force) lock(directory);
  else if (lockWithin(directory, 0) === undefined) takeLock(root, id);
}

/** The lock belongs to the open file, so a process that has inherited the descriptor holds it, too. A process that does not hold it does nothing here. */
function isBehind(state: number, directory: string): boolean {
  if (!host.flock(state, host.LOCK.EX | host.LOCK.NB)) throw new RuntError("usage", `--state-fd ${state}: another verb holds the lock`);
  // Hooks that outlive this process do not keep it.
  host.closeOnExecFrom(state);
  const [named, held] = [host.lstat(directory), host.fstat(state)];
  return named?.ino === held.ino && named.dev === held.dev;
}
