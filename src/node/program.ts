/**
 * Runs a program from its start to its end, and collects what it prints. Time, output and the wait for its end are bounded.
 *
 * It is made of node:child_process and not of execa: a call of execa takes 1 to 3 ms more of this process's processor, and
 * a launch makes several (docs/performance/tasks.md).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

export type Stream = number | "ignore" | "pipe";

/** Milliseconds for a program of the host that ends soon. An unmount writes what is not on the disk yet. */
export const PROGRAM_MS = 120_000;
const MOST_OUTPUT = 4 << 20;
/** Bytes of standard error that are kept: the end, which has the reason. */
const MOST_ERRORS = 16 << 10;
/** How long the end of a killed program is waited for. One that hangs in the kernel ends later, or never. */
const KILLED_MS = 10_000;

export interface ProgramOptions {
  /** After so many milliseconds it is killed. Infinity: the program has bounds of its own, or `signal` is one. */
  readonly timeoutMs: number;
  /** Default: "/", so that no file system is kept busy by it. */
  readonly cwd?: string | undefined;
  /** The complete environment. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** For its standard input, which is empty otherwise. */
  readonly input?: string | Uint8Array | undefined;
  /** It runs with these, and without further groups. Default: those of this process. */
  readonly ids?: { readonly uid: number; readonly gid: number } | undefined;
  /** Its standard streams. What is "pipe" is collected, or written. */
  readonly stdio?: readonly [Stream, Stream, Stream] | undefined;
  /** What it has as descriptors 3 and so on. They may be closed as soon as this function has returned. */
  readonly descriptors?: readonly number[];
  /** Kills it. */
  readonly signal?: AbortSignal | undefined;
  /** Most bytes of standard output. A program that prints more is killed. Default: 4 MiB. */
  readonly mostOutput?: number;
  /**
   * It is killed alone: its children end with it by themselves. It stays in the process group of this process, and gets SIGTERM
   * when this process ends. Default: it has a process group of its own, and its children are killed with it.
   */
  readonly isAlone?: boolean;
  /** No part of its output stays in the memory of this process but the result. */
  readonly isSecret?: boolean;
  /** Called with its pid as soon as it is started. */
  readonly onStarted?: ((pid: number) => void) | undefined;
  /** Called with what it prints, as it comes. Its standard output is not collected then, and has any length. */
  readonly onOutput?: ((bytes: Buffer) => void) | undefined;
  /** Called with each line of its standard output, which is not collected then, and has any length; but a line longer than `mostOutput` ends it. Must not throw. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface ProgramEnd {
  /** undefined: a signal has ended it, it was not started, or it is not gone although it was killed. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly isTimedOut: boolean;
  readonly stdout: Buffer;
  /** At most the last 16 KiB. */
  readonly stderr: string;
  /** It was not started. */
  readonly error: NodeJS.ErrnoException | undefined;
  /** What has happened, such as "has failed (1)". undefined: it has exited with 0, within its bounds. */
  readonly failure: string | undefined;
  /** The same with the name of the program; empty when there is no failure. */
  readonly message: string;
}

/** Never rejects. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  const { signal, timeoutMs, input, isSecret = false, isAlone = false, mostOutput = MOST_OUTPUT } = options;
  const { onOutput, onLine, onStarted } = options;
  if (signal?.aborted) return Promise.resolve(endOf(program, { failure: "was not started: it is not wanted any more" }));
  let child: ChildProcess;
  try {
    child = start(program, args, options);
  } catch (error) {
    return Promise.resolve(notStarted(program, error as NodeJS.ErrnoException));
  }
  if (child.pid !== undefined) onStarted?.(child.pid);
  if (isAlone) endWithThis(child);
  return new Promise((resolve) => {
    let why: string | undefined;
    const timers: NodeJS.Timeout[] = [];
    const stop = (reason: string) => {
      if (why !== undefined) return;
      why = reason;
      // Before its pipes are closed: a program that writes would end by SIGPIPE otherwise, or see that it is not wanted and go on.
      if (isAlone) child.kill("SIGKILL");
      else killGroup(child);
      // A process that has left the group may still have them open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      timers.push(setTimeout(leave, KILLED_MS));
    };
    const leave = () => {
      child.unref();
      end({});
    };
    const collected = onOutput === undefined && onLine === undefined ? child.stdout : null;
    const stdout = collect(collected, () => stop(`has printed more than ${mostOutput} bytes`), mostOutput);
    const lastLine =
      onLine && passLines(child.stdout, onLine, () => stop(`has printed a line of more than ${mostOutput} bytes`), mostOutput);
    const stderr = collectEnd(child.stderr);
    if (onOutput !== undefined) for (const stream of [child.stdout, child.stderr]) stream?.on("data", onOutput);
    const onAbort = () => stop("was killed: it is not wanted any more");
    const late = `has not ended within ${timeoutMs / 1000} s`;
    if (Number.isFinite(timeoutMs)) timers.push(setTimeout(stop, timeoutMs, late));
    signal?.addEventListener("abort", onAbort);
    const settle = (result: ProgramEnd) => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(result);
    };
    const end = (how: Pick<How, "exitCode" | "signal">) => {
      if (why === undefined) lastLine?.();
      settle(endOf(program, { ...how, failure: why, isTimedOut: why === late, stdout: stdout(isSecret), stderr: stderr() }));
    };
    child.once("error", (error) => settle(notStarted(program, error)));
    child.once("close", (code, ended) => end({ exitCode: code ?? undefined, signal: ended ?? undefined }));
    // It may end before it has read everything.
    child.stdin?.on("error", () => {}).end(input);
  });
}

/** For a program without which the caller cannot go on. Returns its standard output. @throws Error: why it has failed, with the `code` of one that was not started */
export async function outputOf(program: string, args: readonly string[], options: Partial<ProgramOptions> = {}): Promise<string> {
  const { stdout, stderr, failure, message, error } = await runProgram(program, args, { timeoutMs: PROGRAM_MS, ...options });
  if (error !== undefined) throw error;
  if (failure === undefined) return stdout.toString();
  throw new Error(stderr.trim() === "" ? message : `${program} has failed: ${stderr.trim()}`);
}

/** As runProgram, where nothing else may happen meanwhile. The program is killed alone. */
export function runProgramNow(program: string, args: readonly string[], timeoutMs = PROGRAM_MS): ProgramEnd {
  const bounds = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MOST_OUTPUT } as const;
  const { status, signal, stdout, stderr, error } = spawnSync(program, [...args], {
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    ...bounds,
  });
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  const isTimedOut = code === "ETIMEDOUT";
  if (error !== undefined && !isTimedOut && code !== "ENOBUFS") return notStarted(program, error);
  const failure = isTimedOut
    ? `has not ended within ${timeoutMs / 1000} s`
    : code === "ENOBUFS"
      ? `has printed more than ${MOST_OUTPUT} bytes`
      : undefined;
  const errors = stderr.toString().slice(-MOST_ERRORS);
  return endOf(program, { exitCode: status ?? undefined, signal: signal ?? undefined, failure, isTimedOut, stdout, stderr: errors });
}

/** The Debian package that has a program of the host, for messages. */
const PACKAGES: Readonly<Record<string, string>> = {
  cp: "coreutils",
  fallocate: "util-linux",
  ip: "iproute2",
  "iptables-restore": "iptables",
  "iptables-save": "iptables",
  mke2fs: "e2fsprogs",
  nft: "nftables",
  nsenter: "util-linux",
  pasta: "passt",
  sync: "coreutils",
  umount: "mount",
  unshare: "util-linux",
};

export function packageOf(program: string): string {
  return PACKAGES[program] ?? program;
}

function start(program: string, args: readonly string[], options: ProgramOptions): ChildProcess {
  const { cwd = "/", env, input, ids, descriptors = [], isAlone = false } = options;
  const { stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] } = options;
  return spawn(program, [...args], {
    ...{ cwd, detached: !isAlone, stdio: [...stdio, ...descriptors] },
    ...(env === undefined ? {} : { env }),
    ...ids,
  });
}

type How = Partial<Omit<ProgramEnd, "message">>;

function endOf(program: string, how: How): ProgramEnd {
  const { exitCode, signal, isTimedOut = false, stdout = Buffer.alloc(0), stderr = "", error } = how;
  const { failure = exitCode === 0 ? undefined : signal ? `was ended by ${signal}` : `has failed (${exitCode})` } = how;
  return {
    ...{ exitCode, signal, isTimedOut, stdout, stderr, error, failure },
    message: failure === undefined ? "" : `${program} ${failure}`,
  };
}

function notStarted(program: string, error: NodeJS.ErrnoException): ProgramEnd {
  return endOf(program, { error, failure: `could not be started: ${error.message}` });
}

function collect(stream: NodeJS.ReadableStream | null, overflow: () => void, most: number): (isSecret: boolean) => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on("data", (chunk: Buffer) => {
    if (size < most) chunks.push(chunk.subarray(0, most - size));
    size += chunk.length;
    if (size > most) overflow();
  });
  return (isSecret) => {
    const whole = Buffer.concat(chunks);
    if (isSecret) for (const chunk of chunks) chunk.fill(0);
    return whole;
  };
}

const NEWLINE = 0x0a;

/** Returns what passes the last line on, if it has no newline. */
function passLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void, overflow: () => void, most: number): () => void {
  let begun: Buffer[] = [];
  let size = 0;
  const begin = (rest: Buffer) => {
    size += rest.length;
    if (size > most) overflow();
    else if (rest.length > 0) begun.push(rest);
  };
  const pass = (whole: Buffer) => {
    const text = Buffer.concat([...begun, whole]).toString();
    [begun, size] = [[], 0];
    for (const line of text.split("\n")) onLine(line);
  };
  stream?.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end >= 0) pass(chunk.subarray(0, end));
    begin(chunk.subarray(end + 1));
  });
  return () => {
    if (begun.length > 0) pass(Buffer.alloc(0));
  };
}

function collectEnd(stream: NodeJS.ReadableStream | null): () => string {
  let kept = Buffer.alloc(0);
  stream?.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-MOST_ERRORS);
  });
  return () => kept.toString();
}

/**
 * SIGKILL for a program that was started with `detached`, and for its children. While the program has not been waited for, or a process
 * of its group is left, no other group gets the number. Later it may be another program's: then a process has it as its pid.
 */
export function killGroup({ pid, exitCode, signalCode }: Pick<ChildProcess, "pid" | "exitCode" | "signalCode">): void {
  if (pid === undefined) return;
  const isWaitedFor = exitCode !== null || signalCode !== null;
  if (isWaitedFor && existsSync(`/proc/${pid}`)) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // They have ended, or are another user's by now.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

const alive = new Set<ChildProcess>();

function endAll(): void {
  for (const child of alive) child.kill("SIGTERM");
}

/** It gets SIGTERM when this process ends in an orderly way, and hands the signal on to what it runs. */
export function endWithThis(child: ChildProcess): void {
  if (alive.size === 0) process.on("exit", endAll);
  alive.add(child);
  const forget = () => {
    alive.delete(child);
    if (alive.size === 0) process.off("exit", endAll);
  };
  child.once("exit", forget).once("error", forget);
}
