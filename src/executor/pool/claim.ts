/**
 * The process of a container that was created as a template, handed to its waiting init from here: without a process of the host. The same steps as `runt start --process`
 * (docs/decisions/0054-templates.md).
 */
import { closeSync, constants, linkSync, openSync, readSync, writeSync } from "node:fs";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { removeOwnFile, writeOwnFile } from "../../node/index.ts";
import { CLAIM_FILE, CLAIM_MOST, type Claim, claimRecord, packClaim, START_FIFO } from "../../shared/protocol/index.ts";
import { ExecutorError, ProgramError, type ProgramFailure } from "../errors.ts";
import { openOwnFifo } from "../own/file.ts";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A program begins in a fraction of a millisecond; an init that is stopped never does. */
const BOUND_MS = 10_000;
/** Turns of the event loop before it is looked less often: about a millisecond. More of them would take the processor from init. */
const TURNS = 40;
const LATER_MS = 1;
const REPORT_MOST = 4096;
/** Bytes that a FIFO holds (pipe(7)). */
const FIFO_MOST = 65_536;

export interface GivenProcess {
  readonly claim: Claim;
  /** Of the claim's files, in their order. */
  readonly contents: readonly Uint8Array[];
  /** Milliseconds from now until the container is killed, also without this process; 0: none. */
  readonly deadlineMs: number;
}

interface HandOver extends GivenProcess {
  /** ROOT/ID of the runtime. */
  readonly directory: string;
  readonly id: string;
  /** FIFO of its monitor. */
  readonly deadline: string;
  /** Milliseconds for init to take it. */
  readonly boundMs?: number;
}

/**
 * Returns when the program runs.
 * @throws ExecutorError invalid-argument: nothing was done; wrong-state: another caller has the container, or it has ended; launch-failed and ProgramError: it ends
 */
export async function handOver({ directory, id, claim, contents, deadline, deadlineMs, boundMs = BOUND_MS }: HandOver): Promise<void> {
  const message = packed(claim);
  const path = `${directory}/${START_FIFO}`;
  const fd = openRead(path, id);
  try {
    take(directory, id, claim);
    // Before the program can run: a death of this process in between leaves nothing without an end.
    if (deadlineMs > 0) setDeadline(deadline, deadlineMs, id);
    const end = performance.now() + boundMs;
    for (const bytes of [message, ...contents]) await write(fd, bytes, id, end);
    // By the descriptor: a program that ends at once is removed with its FIFO by its monitor.
    const same = `/proc/self/fd/${fd}`;
    await begun(same, id, end);
    const left = readAll(same);
    if (isTailOf(left, [message, ...contents])) throw gone(id, new Error("it was killed before it had read its process"));
    if (left.length > 0) throw failureOf(left);
    // Its monitor may have removed it.
    removeOwnFile(path);
  } finally {
    closeSync(fd);
  }
}

/** A FIFO that init or the monitor reads. @throws ExecutorError wrong-state: no process reads it */
function openRead(path: string, id: string): number {
  try {
    return openOwnFifo(path, O_WRONLY | O_NONBLOCK);
  } catch (error) {
    throw gone(id, error);
  }
}

function packed(claim: Claim): Uint8Array {
  let message: Uint8Array;
  try {
    message = packClaim(claim);
  } catch (error) {
    throw new ExecutorError("invalid-argument", `args, env, cwd and files: ${(error as Error).message}`, {}, error);
  }
  if (message.length <= CLAIM_MOST) return message;
  throw new ExecutorError("invalid-argument", `args and env take more than ${CLAIM_MOST} bytes`);
}

function setDeadline(path: string, ms: number, id: string): void {
  const fd = openRead(path, id);
  try {
    // Less than PIPE_BUF, so it is written as one (pipe(7)).
    writeSync(fd, `${ms}\n`);
  } finally {
    closeSync(fd);
  }
}

/** One caller alone gives the file its name. */
function take(directory: string, id: string, claim: Claim): void {
  const path = `${directory}/${CLAIM_FILE}`;
  const making = `${path}.${process.pid}`;
  writeOwnFile(making, JSON.stringify(claimRecord(claim, Date.now())));
  try {
    linkSync(making, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new ExecutorError("wrong-state", `executor ${id}: another caller has given it its process`, {}, error);
  } finally {
    removeOwnFile(making);
  }
}

async function write(fd: number, bytes: Uint8Array, id: string, end: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") throw gone(id, error);
      if (code !== "EAGAIN") throw error;
      if (performance.now() > end) throw late(id);
      await sleep(1);
    }
  }
}

/** init holds the FIFO until execve, or its end: then there is no reader any more. */
async function begun(path: string, id: string, end: number): Promise<void> {
  for (let looks = 0; hasReader(path); looks++) {
    if (performance.now() > end) throw late(id);
    await (looks < TURNS ? turn() : sleep(LATER_MS));
  }
}

function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, O_WRONLY | O_NONBLOCK));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENXIO") return false;
    throw error;
  }
}

/** What is in the FIFO, which this process still has open. */
function readAll(path: string): Buffer {
  const fd = openSync(path, O_RDONLY | O_NONBLOCK);
  const bytes = Buffer.alloc(FIFO_MOST);
  try {
    return bytes.subarray(0, readSync(fd, bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    return bytes.subarray(0, 0);
  } finally {
    closeSync(fd);
  }
}

/** init writes its report when it has read everything: the end of what was sent is no report. */
function isTailOf(left: Buffer, sent: readonly Uint8Array[]): boolean {
  return left.length > 0 && Buffer.concat(sent).subarray(-left.length).equals(left);
}

/** @param report what init could not do: errno, path, and text, a line each */
function failureOf(report: Buffer): Error {
  const [number = "", subject = "", ...text] = report.toString("utf8", 0, REPORT_MOST).split("\n");
  const what = text.join("\n");
  const reason = (what === "stat" || what === "exec") && REASONS[what]?.[Number(number)];
  const message = `${what} ${subject}: errno ${number}`;
  if (!reason) return new ExecutorError("launch-failed", message, { errno: Number(number), path: subject });
  return new ProgramError(message, { reason, program: subject, verb: "start", exitCode: 255 });
}

/** errno(3): ENOENT, EACCES, ENOEXEC, ENOTDIR. */
const REASONS: Readonly<Record<"stat" | "exec", Readonly<Record<number, ProgramFailure>>>> = {
  stat: { 2: "not-found", 13: "not-executable", 20: "not-found" },
  exec: { 2: "interpreter-missing", 8: "wrong-format", 13: "not-executable" },
};

function gone(id: string, cause: unknown): ExecutorError {
  return new ExecutorError("wrong-state", `executor ${id} does not wait for a process: it has ended, or was started`, {}, cause);
}

function late(id: string): ExecutorError {
  return new ExecutorError("launch-failed", `executor ${id}: its waiting process does not take its program in time`);
}
