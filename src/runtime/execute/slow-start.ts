/** A start that lasts: startContainer hooks, or a program on a file system that is slow. The lock is let go meanwhile. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import { lockAgain, type StateRecord } from "../state/index.ts";
import { killInit } from "./destroy.ts";
import { endBySignal } from "./end-by-signal.ts";
import { interruption } from "./interrupted.ts";
import { StoppedProcess, stateOf } from "./slow.ts";

/** execve itself takes a fraction of a millisecond; this bounds a stuck filesystem. */
const EXEC_TIMEOUT_MS = 10_000;
const LOOK_MS = 200;

/** Descriptors: the write end of the fifo, and the lock. */
export interface Starting {
  readonly fd: number;
  readonly held: number;
  readonly directory: string;
}

/**
 * Until init has let the fifo go or, without hooks, ten seconds are over. From the first moment on the container counts as running, and
 * every verb may act on it; so whether it is still the same is asked at the end.
 * @throws RuntError interrupted or timeout: init is killed, and the container is left stopped; wrong-status: it has been removed
 */
export function awaitProgram(record: StateRecord, { fd, held, directory }: Starting): void {
  host.unlink(fifoPath(directory));
  host.flock(held, host.LOCK.UN);
  endBySignal();
  try {
    wait(fd, record);
  } catch (error) {
    host.endWaitsBySignal(false);
    killInit(record);
    throw interruption(error) ?? error;
  }
  host.unblockSignals();
  if (!lockAgain(held, directory)) throw new RuntError("wrong-status", WORDS.startStopped);
}

function wait(fd: number, record: StateRecord): void {
  const end = record.hooks?.startContainer ? Number.POSITIVE_INFINITY : host.monotonic() + EXEC_TIMEOUT_MS;
  const stopped = new StoppedProcess(record.pid);
  while (host.poll([fd], [0], LOOK_MS)[0] === 0) {
    stopped.look(stateOf(record.pid));
    if (host.monotonic() >= end) return;
  }
}
