/** A further process in the container while it runs: its streams, its terminal, its signals and its end. */
import { type ChildProcess, spawn as spawnChild } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { constants as osConstants } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithThis } from "../../node/index.ts";
import { aborted, ExecutorError } from "../errors.ts";
import type { TerminalSize } from "../launch/command.ts";
import { makeFifos } from "../launch/fifos.ts";
import { checkSize, writeSize } from "../launch/size.ts";

import { type Cgroup, isEmptyNow, makeSubCgroup, readIfThere, removeSubCgroup, type SubCgroup } from "../process/cgroups.ts";
import { isShortage } from "../process/procfs.ts";
import { failure, lastLine, openLog } from "../runtime/call.ts";
import type { Runtime } from "../runtime/client.ts";
import { signalNumber } from "../signals.ts";
import { killExec, signalCgroup } from "./kill.ts";
import type { ExecEnd, ProgramRequest, SpawnRequest, SpawnStdio } from "./request.ts";
import { type CallerEnds, connect, openEnds, settled, withDefaults } from "./stdio.ts";

export interface ExecTarget {
  readonly runtime: Runtime;
  readonly id: string;
  /** Of the executor, on disk. */
  readonly directory: string;
  readonly cgroup: Cgroup | undefined;
  /** Unique among the execs of this container, of all supervisors. */
  readonly name: string;
  /** UID or UID:GID. */
  readonly user: string | undefined;
}

/** How long output is waited for that a process left behind could still write. */
const LINGER_MS = 50;
const LOOK_MS = 5;
/** How long a kill that has no descriptor to look with is tried again. */
const SHORTAGE_MS = 10_000;
const { SIGKILL, SIGSTOP, SIGCONT } = osConstants.signals;

/** Of Executor.spawn. `await using` ends it, with all that it has started, when it is left. */
export class ExecHandle {
  /** Unique among the execs of the container. */
  readonly id: string;
  /** With stdio.stdin "pipe". */
  readonly stdin: Writable | undefined;
  /** With stdio.stdout "pipe", which is the default: ends when no process has it open any more. If it is not read, the process waits. */
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  readonly #target: ExecTarget;
  readonly #child: ChildProcess;
  readonly #sub: SubCgroup | undefined;
  readonly #log: number;
  readonly #ends: CallerEnds;
  readonly #isCollected: boolean;
  readonly #exit: Promise<number>;
  readonly #end: Promise<ExecEnd>;
  #hasExited = false;
  #pid: number | undefined;
  #sizes: number | undefined;
  #killing: Promise<readonly number[]> | undefined;
  /** What has ended it first. */
  #endedBy: "deadline" | "abort" | undefined;

  private constructor(target: ExecTarget, request: ProgramRequest, parts: Parts) {
    this.#target = target;
    this.id = target.name;
    this.#child = parts.child;
    this.#sub = parts.sub;
    this.#log = parts.log;
    this.#sizes = parts.sizes;
    this.#isCollected = parts.isCollected;
    this.#ends = connect(parts.child, parts.asked);
    ({ stdin: this.stdin, stdout: this.stdout, stderr: this.stderr } = this.#ends);
    this.#exit = new Promise((resolve, reject) => {
      parts.child.once("exit", (code) => {
        this.#hasExited = true;
        resolve(code ?? 128 + SIGKILL);
      });
      parts.child.once("error", reject);
    });
    this.#end = this.#untilEnd(request);
    // wait() rejects with it. Without a caller of wait() it must not end this process.
    this.#end.catch(() => {});
  }

  /** @internal Returns at once; see started. `isCollected`: stdout and stderr are read by the caller, and wait includes that. @throws ExecutorError aborted, or what openSync throws */
  static async start(target: ExecTarget, request: StartRequest, stdio: SpawnStdio, isCollected = false): Promise<ExecHandle> {
    const { cmd, args = [], env = {}, cwd, pty = false, signal } = request;
    if (signal?.aborted) throw aborted(`exec of ${cmd}`, signal);
    const asked = withDefaults(stdio, pty !== false);
    const opened = openEnds(asked);
    const fifo = filesOf(target).sizes;
    let sub: SubCgroup | undefined;
    let log: number | undefined;
    let sizes: number | undefined;
    try {
      if (pty) {
        await makeFifos([fifo]);
        sizes = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
      }
      sub = target.cgroup && makeSubCgroup(target.cgroup, target.name);
      log = openLog();
      const command = target.runtime.execCommand(target.id, {
        args: [cmd, ...args],
        env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
        pidFile: filesOf(target).pid,
        ...(pty ? { tty: true, resizeFifo: fifo } : {}),
        ...(typeof pty === "object" ? { consoleSize: `${pty.rows}x${pty.columns}` } : {}),
        ...(cwd === undefined ? {} : { cwd }),
        ...(target.user === undefined ? {} : { user: target.user }),
        ...(sub ? { cgroups: [sub.flag] } : {}),
      });
      // No runProgram (src/node): the caller has its streams while it runs. The container's directory is not its caller's.
      const child = spawnChild(target.runtime.binary, command, { stdio: [...opened.ends, log], cwd: "/" });
      endWithThis(child);
      return new ExecHandle(target, request, { child, sub, log, sizes, asked, isCollected });
    } catch (error) {
      if (log !== undefined) closeSync(log);
      if (sizes !== undefined) closeSync(sizes);
      rmSync(fifo, { force: true });
      if (sub) await removeSubCgroup(sub);
      throw error;
    } finally {
      opened.close();
    }
  }

  /** Host pid of the program. */
  get pid(): number {
    return this.#pid ?? 0;
  }

  /** @internal Returns when the program runs, or has run. @throws what wait throws */
  async started(): Promise<this> {
    for (let pause = LOOK_MS; ; pause = Math.min(2 * pause, 10 * LOOK_MS)) {
      if (this.#seePid()) return this;
      if (this.#hasExited || this.#child.pid === undefined) {
        await this.#end;
        return this;
      }
      await Promise.race([sleep(pause), this.#exit]);
    }
  }

  /** What `runt` writes when the program is there. */
  #seePid(): boolean {
    if (this.#pid !== undefined) return true;
    let text: string | undefined;
    try {
      text = readIfThere(filesOf(this.#target).pid);
    } catch (error) {
      // It is looked at again.
      if (!isShortage(error)) throw error;
    }
    if (text !== undefined && /^\d+$/.test(text)) this.#pid = Number(text);
    return this.#pid !== undefined;
  }

  /**
   * The end of the program; the same for every caller. What it has left behind in the background goes on, and `stdout` may have more to read.
   * @throws ExecutorError aborted; stuck, when it could not be killed; ProgramError, RuntimeError when it could not be started
   */
  wait(): Promise<ExecEnd> {
    return this.#end;
  }

  /**
   * A signal by name or number to the program. SIGKILL, SIGSTOP and SIGCONT go to everything that it has started; where the host has no cgroup for
   * that, SIGKILL to all that descends from it. @throws ExecutorError invalid-argument; wrong-state: it has ended, or cannot be stopped here
   */
  async signal(signal: string | number): Promise<void> {
    const number = signalNumber(signal);
    this.#mustRun();
    if (number === SIGKILL) return this.kill();
    // SIGSTOP cannot be forwarded, and what was stopped goes on as a whole.
    const isSent = (number === SIGSTOP || number === SIGCONT) && (await signalCgroup(this.#processes(), String(number)));
    if (number === SIGSTOP && !isSent) throw new ExecutorError("wrong-state", `exec ${this.id}: there is no cgroup to stop it in`);
    // Its `runt` forwards the others. A child that has not been waited for keeps its pid.
    if (number !== SIGSTOP && !this.#hasExited) process.kill(this.#child.pid!, number);
  }

  /** SIGKILL for everything that it has started, also when it has ended itself; returns when that is gone. @throws ExecutorError stuck */
  async kill(): Promise<void> {
    this.#killing ??= this.#killAll();
    const left = await this.#killing;
    if (left.length > 0) throw this.#stuck(left);
    await this.#exit;
    if (this.#sub) await removeSubCgroup(this.#sub);
  }

  /** The new size of its terminal. @throws ExecutorError invalid-argument; wrong-state: it has none, or has ended; stuck */
  resize(size: TerminalSize): void {
    checkSize("size", size);
    this.#mustRun();
    if (this.#sizes === undefined) throw new ExecutorError("wrong-state", `exec ${this.id} has no terminal`);
    writeSize(this.#sizes, size);
  }

  /** As kill. @throws ExecutorError stuck */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid !== undefined) await this.kill();
    await this.#end.catch(() => {});
  }

  #mustRun(): void {
    if (this.#hasExited) throw new ExecutorError("wrong-state", `exec ${this.id} has ended`);
  }

  #processes() {
    const { runtime, id } = this.#target;
    return { runtime, id, sub: this.#sub, pid: () => (this.#hasExited ? undefined : this.#child.pid) };
  }

  async #killAll(): Promise<readonly number[]> {
    const end = performance.now() + SHORTAGE_MS;
    for (;;) {
      try {
        return await killExec(this.#processes());
      } catch (error) {
        // It may pass.
        if (!isShortage(error) || performance.now() > end) throw error;
        await sleep(LOOK_MS);
      }
    }
  }

  #stuck(pids: readonly number[]): ExecutorError {
    return new ExecutorError("stuck", `exec ${this.id}: processes could not be killed`, { pids });
  }

  async #untilEnd({ cmd, deadlineMs, signal }: ProgramRequest): Promise<ExecEnd> {
    const endBy = (what: "deadline" | "abort") => {
      if (this.#hasExited) return;
      this.#endedBy ??= what;
      this.#killing ??= this.#killAll();
      this.#killing.catch(() => {});
    };
    const onAbort = () => endBy("abort");
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = deadlineMs === undefined ? undefined : setTimeout(endBy, deadlineMs, "deadline");
    try {
      const status = await this.#exit;
      await this.#outputs();
      const left = (await this.#killing) ?? [];
      if (left.length > 0) throw this.#stuck(left);
      if (this.#endedBy === "abort") throw aborted(`exec of ${cmd}`, signal!);
      if (this.#endedBy === "deadline") return { exitCode: null, timedOut: true };
      const line = lastLine(this.#log);
      if (line !== "") throw failure("exec", status, line, "", "");
      return { exitCode: status, timedOut: false };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.#ends.detach();
      await this.#cleanUp();
    }
  }

  /** What is read here or goes into streams of the caller. A process that was left behind may have it open, and is not waited for. */
  async #outputs(): Promise<void> {
    const own = this.#isCollected ? [this.stdout, this.stderr] : [];
    const isAll = this.#sub !== undefined && isEmptyNow(this.#sub.directory);
    const streams = [...this.#ends.copied, ...own].flatMap((stream) => stream ?? []);
    // A reader of the caller's that takes nothing does not hold up an end that the caller has asked for.
    await settled(streams, isAll && this.#endedBy !== "abort" ? undefined : LINGER_MS);
  }

  async #cleanUp(): Promise<void> {
    this.#seePid();
    const { pid, sizes } = filesOf(this.#target);
    closeSync(this.#log);
    if (this.#sizes !== undefined) closeSync(this.#sizes);
    this.#sizes = undefined;
    for (const path of [pid, sizes]) rmSync(path, { force: true });
    if (this.#sub) await removeSubCgroup(this.#sub);
  }
}

type StartRequest = ProgramRequest & Pick<SpawnRequest, "pty">;

interface Parts {
  readonly child: ChildProcess;
  readonly sub: SubCgroup | undefined;
  readonly log: number;
  readonly sizes: number | undefined;
  readonly asked: Required<SpawnStdio>;
  readonly isCollected: boolean;
}

/** In the executor's directory, while it runs. */
function filesOf({ directory, name }: ExecTarget): { readonly pid: string; readonly sizes: string } {
  return { pid: join(directory, `${name}.pid`), sizes: join(directory, `${name}.size`) };
}
