/** start: let init go on past exec.fifo. */
import { CLAIM_MOST, packClaim, TEMPLATE } from "../../shared/protocol/index.ts";
import type { Warning } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import {
  awaitEnd,
  awaitProgram,
  destroy,
  GO,
  helperError,
  killInit,
  listenAgain,
  neverBegan,
  openPidfd,
  readStartFailure,
  runPoststart,
  runPoststop,
  type StartFailure,
  waitUntilReady,
} from "../execute/index.ts";
import * as host from "../host/index.ts";
import { phase } from "../host/index.ts";
import { fifoPath, startReportPath } from "../plan/index.ts";
import { type RuntimeOptions, requestedClaim } from "../prepare/index.ts";
import { deriveStatus, initState, lockAgain, lockRecord, openFifo, publishClaim, type StateRecord } from "../state/index.ts";

/** Most programs begin in less; what lasts is waited for without the lock (slow-start.ts). */
const SOON_MS = 100;
const HAND_MS = 10_000;
const HAND_STEP_MS = 200;
/** init stays for a tenth of a second after it has failed. */
const DEATH_TIMEOUT_MS = 2_000;

export interface StartOptions {
  /** Document of the process, for a container that was created as a template. */
  readonly processFile?: string;
}

/** Adds to `warnings`. */
export function start({ root }: RuntimeOptions, id: string, warnings: string[] = [], { processFile }: StartOptions = {}): void {
  const { record, directory, held } = lockRecord(root, id);
  const status = deriveStatus(root, record, true);
  if (status === "stopped") throw new RuntError("wrong-status", WORDS.startStopped);
  if (status !== "created") throw new RuntError("wrong-status", WORDS.alreadyRunning);
  if (!record.startable)
    throw new RuntError("wrong-status", "cannot start a container whose config.json has no process", { pointer: "/process" });
  const isTemplate = record.annotations[TEMPLATE] !== undefined || processFile !== undefined;
  const message = isTemplate ? claim(record, directory, processFile, warnings) : GO;
  const sockets = host.getenv("NOTIFY_SOCKET") ? listenAgain(root, id, warnings) : undefined;
  const pidfd = sockets && host.pidfdOpen(record.pid);
  phase?.("release", "execute");
  const failure = release(fifoPath(directory), message, (fd) => awaitProgram(record, { fd, held, directory }));
  const refused = !failure && record.exec.seccomp !== undefined && neverBegan(record, directory);
  try {
    if (record.hooks?.startContainer) checkHooks(directory);
    if (record.hooks && !failure && !refused) afterStart(record, held);
  } catch (error) {
    if (!lockAgain(held, directory)) throw error;
    killInit(record);
    destroy(root, record);
    runPoststop(record);
    throw error;
  }
  // The container is left stopped, as by a program that ends at once.
  if (failure) throw explained(record, failure);
  if (refused) throw helperError.refused();
  if (sockets && pidfd !== undefined) {
    host.unblockSignals();
    waitUntilReady(sockets, record.pid, pidfd);
  }
}

/** The message for an init that waits for its process; nobody else can have the container from here on. */
function claim(record: StateRecord, directory: string, processFile: string | undefined, warnings: string[]): ArrayBuffer {
  const found: Warning[] = [];
  const asked = requestedClaim(record, processFile, found)!;
  warnings.push(...found.map(({ message }) => message));
  const message = packClaim(asked);
  if (message.length > CLAIM_MOST) throw new RuntError("usage", `--process: args and env take more than ${CLAIM_MOST} bytes`);
  publishClaim(directory, asked);
  return message.buffer;
}

/** More than what a pipe holds: init takes it as it comes. @throws RuntError timeout: init does not take it, and cannot be started any more */
function hand(fd: number, message: ArrayBuffer): void {
  const end = host.monotonic() + HAND_MS;
  for (let at = 0; at < message.byteLength; ) {
    const went = host.writeSome(fd, message, at, message.byteLength - at);
    at += went;
    if (went > 0) continue;
    host.poll([fd], [host.POLL.OUT], HAND_STEP_MS);
    if (host.monotonic() >= end)
      throw new RuntError("timeout", "the waiting process does not take what is to be started", { hint: "delete the container" });
  }
}

/** What init could not do, once it is gone. */
function explained(record: StateRecord, failure: StartFailure): RuntError {
  const error = helperError.execve(record, failure);
  const pidfd = openPidfd(record);
  if (pidfd !== undefined) awaitEnd(pidfd, () => initState(record), DEATH_TIMEOUT_MS);
  return error;
}

/** init writes a message of some lines. */
const REPORT_LIMIT = 1 << 20;

/** A startContainer hook's failure is found in its report. */
function checkHooks(directory: string): void {
  const report = startReportPath(directory);
  if (!host.lstat(report)) return;
  const text = host.readOwn(report, REPORT_LIMIT);
  if (text !== "") throw new RuntError("hook", `unable to start container process: ${text}`);
  host.unlink(report);
}

/** The hooks that come now may use any verb on the running container. */
function afterStart(record: StateRecord, held: number): void {
  host.flock(held, host.LOCK.UN);
  runPoststart(record);
}

/**
 * init holds the fifo open for reading until execve, so the write end reports an error exactly when the program runs. `wait`: for one that lasts; it
 * removes the fifo.
 */
function release(path: string, message: string | ArrayBuffer, wait: (fd: number) => void): StartFailure | undefined {
  let fd: number;
  try {
    fd = openFifo(path, host.O.WRONLY | host.O.NONBLOCK);
    if (typeof message === "string") host.write(fd, message);
    else hand(fd, message);
  } catch (error) {
    // Nobody reads it, from the beginning or no longer.
    if (host.isErrno(error, "ENXIO") || host.isErrno(error, "EPIPE")) throw new RuntError("wrong-status", WORDS.startStopped);
    throw error;
  }
  if (host.poll([fd], [0], SOON_MS)[0] === 0) {
    wait(fd);
    return readStartFailure(fd);
  }
  const failure = readStartFailure(fd);
  host.unlink(path);
  return failure;
}
