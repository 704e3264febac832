/** A message that does not come: what delays it, and when to give up. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { fifoPath } from "../plan/index.ts";
import { initState, lockAgain, type StateRecord } from "../state/index.ts";
import { killInit } from "./destroy.ts";
import type { Execution } from "./execution.ts";
import { endBySignal, interruption } from "./interrupted.ts";

/** The longest that stops of the helper may take together. runt never stops it: only a process of the container, or of a pid namespace that it joins, can. */
const STOPPED_MS = 10_000;
/** The helper does not run at all: it waits for a file system or an agent that does not answer. */
const STILL_MS = 60_000;

/** Counts for how long a process is stopped. A debugger's stop (t) is none. */
class StoppedProcess {
  readonly #pid: number;
  #stopped = 0;
  #seen = host.monotonic();

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** To be called again and again. @param state as proc_pid_stat(5) has it. @throws RuntError timeout */
  look(state: string): void {
    const now = host.monotonic();
    if (state === "T") this.#stopped += now - this.#seen;
    this.#seen = now;
    if (this.#stopped >= STOPPED_MS)
      throw late(`process ${this.#pid}, which becomes the program, was stopped (SIGSTOP) for ${STOPPED_MS / 1000} s`);
  }
}

interface Watch {
  readonly pid: number;
  readonly stopped: StoppedProcess;
  /** How often the kernel has given it a processor, and since when that is the same. */
  turns: string;
  since: number;
}

const watches = new WeakMap<Execution, Watch>();

/** To be called as long as the wait lasts. @throws RuntError timeout, or wrong-status when the container is gone */
export function lookAtSlow(execution: Execution): void {
  const { made, running } = execution;
  const { patience } = execution.asked;
  const { deadline, asked, movesOn, lock } = patience ?? {};
  const now = host.monotonic();
  const pid = running.pid > 0 ? running.pid : running.helper;
  const known = watches.get(execution);
  if (lock !== undefined && !running.released) {
    host.flock(lock, host.LOCK.UN);
    running.released = true;
  }
  // Whoever has joined it may wait for a file system of it still.
  if (patience && !initState(made.record)) throw new RuntError("wrong-status", WORDS.notRunning);
  if (deadline !== undefined && now >= deadline) throw late(`the program did not begin within ${asked} (--timeout)`);
  const watch = known?.pid === pid ? known : { pid, stopped: new StoppedProcess(pid), turns: "", since: now };
  watches.set(execution, watch);
  const status = statusOf(pid);
  const state = stateIn(status);
  watch.stopped.look(state);
  const turns = status.filter((line) => line.includes("ctxt_switches")).join();
  if (turns !== watch.turns || state === RUNNABLE) {
    watch.turns = turns;
    watch.since = now;
  } else if (movesOn && now - watch.since >= STILL_MS) {
    throw late(`process ${pid}, which becomes the program, has not moved for ${STILL_MS / 1000} s`);
  }
}

const RUNNABLE = "R";

/** Letter of its state; empty when there is no such process. */
function stateOf(pid: number): string {
  return stateIn(statusOf(pid));
}

function stateIn(status: readonly string[]): string {
  return status.find((line) => line.startsWith("State:"))?.split(/\s+/)[1] ?? "";
}

/** Lines of proc_pid_status(5). */
function statusOf(pid: number): string[] {
  try {
    return host.readFile(`/proc/${pid}/status`, undefined, true).split("\n");
  } catch (error) {
    // The helper is about to end, and the socket will report that.
    if (host.isErrno(error, "ENOENT", "ESRCH")) return [];
    throw error;
  }
}

function late(reason: string): RuntError {
  return new RuntError("timeout", `${reason}; it has been ended`);
}

/** execve itself takes a fraction of a millisecond; this bounds a stuck filesystem. */
const EXEC_TIMEOUT_MS = 10_000;
const LOOK_MS = 200;

/** Descriptors: the write end of the fifo, and the lock. */
interface Starting {
  readonly fd: number;
  readonly held: number;
  readonly directory: string;
}

/**
 * A start that lasts: startContainer hooks, or a program on a file system that is slow. The lock is
 * let go meanwhile. Until init has let the fifo go or, without hooks, ten seconds are over. From the
 * first moment on the container counts as running, and every verb may act on it; so whether it is
 * still the same is asked at the end.
 * @throws RuntError interrupted or timeout: init is killed, and the container is left stopped;
 * wrong-status: it has been removed
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
