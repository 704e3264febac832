/** One program in a container of its own, from launch to end. */
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Container, KILL_BOUND_MS } from "./container.ts";
import { type Description, Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import { checkExec, type ExecRequest, type ExecResult, exec } from "./exec.ts";
import { checkCommand } from "./launch/check.ts";
import type { LaunchCommand, Resources } from "./launch/command.ts";
import { toConfig } from "./launch/config.ts";
import { launchError } from "./launch/failure.ts";
import { ociResources } from "./launch/resources.ts";
import { makePipes, openStdio, pipePath, pipesOf, type StreamName } from "./launch/stdio.ts";
import { findUser } from "./launch/user.ts";
import { runningState } from "./outcome.ts";
import { readOutput } from "./output.ts";
import { type Cgroup, cgroupVersion } from "./process/cgroups.ts";
import { type RecordWatch, readRecord, watchRecord } from "./record.ts";
import { Runtime } from "./runtime/client.ts";
import { signalNumber } from "./signals.ts";
import { Meter } from "./stats/meter.ts";
import type { Stats } from "./stats/types.ts";
import type { ExecutorOptions, ExecutorState, ExecutorVersion, ProcessState, ShutdownPlan, ShutdownResult } from "./types.ts";
import { LIBRARY_VERSION, PROTOCOL } from "./version.ts";

const DEFAULT_GRACE_MS = 5_000;
const DEFAULT_SIGNAL = "SIGINT";

export class Executor {
  readonly id: string;
  readonly #directory: Directory;
  readonly #runtime: Runtime;
  readonly #container: Container;
  readonly #options: ExecutorOptions;
  #state: ExecutorState = "idle";
  #description: Description | undefined;
  #process: ProcessState | undefined;
  #ended: Promise<ProcessState> | undefined;
  #watch: RecordWatch | undefined;
  #waiters = 0;
  #cgroup: Promise<Cgroup | undefined> | undefined;
  #meter: Meter | undefined;
  #stdin: Writable | undefined;
  readonly #outputs = new Map<StreamName, Readable>();

  /** Nothing is done yet. @throws ExecutorError invalid-argument, runtime-not-found, runtime-version */
  constructor(options: ExecutorOptions) {
    this.#directory = new Directory(options.stateDir, options.id);
    this.#options = options;
    this.id = options.id;
    this.#runtime = new Runtime({
      root: this.#directory.runtimeRoot,
      ...(options.binary === undefined ? {} : { binary: options.binary }),
    });
    this.#container = new Container(this.#directory, this.#runtime);
  }

  get state(): ExecutorState {
    return this.#state;
  }

  /** undefined before the launch. */
  get process(): ProcessState | undefined {
    return this.#process;
  }

  version(): ExecutorVersion {
    return { library: LIBRARY_VERSION, protocol: PROTOCOL, runtime: this.#runtime.version() };
  }

  /**
   * Make the container and run the program in it; returns when it runs. A launch that fails leaves nothing.
   * @throws ExecutorError invalid-argument, id-exists, user-unknown, program-not-found, program-not-executable, launch-failed
   */
  async launch(command: LaunchCommand): Promise<ProcessState> {
    if (this.#state !== "idle") throw new ExecutorError("wrong-state", `executor ${this.id} is ${this.#state}, not idle`);
    checkCommand(command);
    const user = findUser(command.rootfs, "process" in command ? "0:0" : (command.user ?? "0"));
    const config = toConfig(command, { id: this.id, user, cgroupVersion: cgroupVersion() });
    this.#enter("launching");
    const { cmd } = "process" in command ? { cmd: command.process.args[0]! } : command;
    this.#options.onEvent?.({ type: "launch", id: this.id, cmd, binary: this.#runtime.binary });
    const pipes = pipesOf(command);
    try {
      await this.#directory.make(command.rootfs, pipes, config, (path) => makePipes(path, pipes));
    } catch (error) {
      this.#enter("failed");
      throw error;
    }
    try {
      this.#description = this.#directory.description();
      await this.#run(command);
    } catch (error) {
      await this.#container.undo();
      this.#enter("failed");
      throw launchError(error);
    }
    return this.#process!;
  }

  async #run(command: LaunchCommand): Promise<void> {
    const stdio = openStdio(this.#directory.path, command);
    try {
      const { path, record } = this.#directory;
      await this.#runtime.run(this.id, { bundle: path, exitRecord: record, stdio: stdio.container });
      const written = readRecord(record);
      if (written?.pid === undefined) throw new ExecutorError("launch-failed", "runt left no exit record");
      this.#process = runningState(written);
    } catch (error) {
      stdio.close(true);
      throw error;
    }
    if (stdio.stdin !== undefined) this.#stdin = new Socket({ fd: stdio.stdin, readable: false, writable: true });
    // Its reader may go before all is written.
    this.#stdin?.on("error", () => this.#stdin?.destroy());
    this.#follow();
    stdio.closeReaders();
    // The monitor of a container that has ended already may have taken this process for a reader of its output: then it is one.
    if (readRecord(this.#directory.record)?.phase !== "running") for (const name of this.#description?.pipes ?? []) this.#output(name);
    stdio.close(false);
  }

  /**
   * The executor of this id, launched by this or another process, which may be dead. State "failed": its launch never came to an end, and what it left
   * has been removed. @throws ExecutorError id-unknown, protocol
   */
  static async adopt(options: ExecutorOptions): Promise<Executor> {
    const executor = new Executor(options);
    await executor.#adopt();
    return executor;
  }

  async #adopt(): Promise<void> {
    this.#description = this.#directory.description();
    this.#process = await this.#container.find();
    if (this.#process === undefined) return this.#enter("failed");
    this.#follow();
    await this.#seen;
  }

  /** Settles when the first look at the record is over. */
  #seen: Promise<void> = Promise.resolve();

  #follow(): void {
    if (this.#state !== "running") this.#enter("running");
    const watch = watchRecord(this.#directory.record);
    this.#watch = watch;
    let seen = () => {};
    this.#seen = new Promise((resolve) => {
      seen = resolve;
    });
    this.#ended = this.#untilEnd(watch, () => seen());
    // Whoever waits gets it; nobody has to.
    this.#ended.catch(() => {});
  }

  async #untilEnd(watch: RecordWatch, seen: () => void): Promise<ProcessState> {
    try {
      for (;;) {
        const look = await this.#container.look();
        if (look.now === "exited") {
          this.#process = look.state;
          this.#enter("exited");
          return look.state;
        }
        // What shutdown has entered says more.
        if (look.now === "stuck" || (look.now === "draining" && this.#state !== "killing" && this.#state !== "stuck"))
          this.#enter(look.now);
        seen();
        await watch.changed();
      }
    } finally {
      seen();
      watch.close();
    }
  }

  /** The end of the program; the same for every caller. A failed launch has none: it throws. */
  async wait(): Promise<ProcessState> {
    if (this.#ended === undefined)
      throw new ExecutorError("wrong-state", `executor ${this.id} is ${this.#state}: there is nothing to wait for`);
    this.#hold(true);
    try {
      return await this.#ended;
    } finally {
      this.#hold(false);
    }
  }

  /** This process stays alive for as long as somebody waits, and no longer. */
  #hold(on: boolean): void {
    this.#waiters += on ? 1 : -1;
    if (this.#waiters > 0) this.#watch?.ref();
    else this.#watch?.unref();
  }

  /** A signal by name or number to the program, or to all processes. @throws ExecutorError invalid-argument, wrong-state */
  async signal(signal: string | number, { all = false } = {}): Promise<void> {
    const number = signalNumber(signal);
    this.#mustRun();
    await this.#runtime.kill(this.id, number, { all });
  }

  /**
   * End it: the signal, then after the grace SIGKILL for everything in its cgroup. Returns when nothing of it is left; may be called again.
   * @throws ExecutorError invalid-argument (nothing was done), stuck
   */
  async shutdown({ signal = DEFAULT_SIGNAL, graceMs = DEFAULT_GRACE_MS }: ShutdownPlan = {}): Promise<ShutdownResult> {
    const number = signalNumber(signal);
    if (!(graceMs >= 0)) throw new ExecutorError("invalid-argument", `graceMs ${graceMs} is no time`, { field: "graceMs" });
    if (this.#state === "idle" || this.#state === "failed") return { endedBy: "not-launched", state: null };
    if (this.#ended === undefined) throw new ExecutorError("wrong-state", `executor ${this.id} is ${this.#state}`);
    if (this.#state === "exited") return { endedBy: "already", state: await this.#ended };
    if (graceMs > 0) {
      if (this.#state === "running") this.#enter("terminating");
      await this.#tryKill(number, false);
      if (await this.#endsWithin(graceMs)) return { endedBy: "signal", state: await this.#ended };
    }
    this.#enter("killing");
    await this.#tryKill(signalNumber("SIGKILL"), true);
    if (await this.#endsWithin(KILL_BOUND_MS)) return { endedBy: "kill", state: await this.#ended };
    this.#enter("stuck");
    throw new ExecutorError("stuck", `executor ${this.id}: processes are left after SIGKILL`, { pids: await this.#pids() });
  }

  /** It may be over already. */
  async #tryKill(signal: number, all: boolean): Promise<void> {
    try {
      await this.#runtime.kill(this.id, signal, { all });
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "wrong-status" && code !== "id-unknown") throw error;
    }
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const stop = new AbortController();
    try {
      return await Promise.race([this.wait().then(() => true), sleep(ms, false, { signal: stop.signal })]);
    } finally {
      stop.abort();
    }
  }

  async #pids(): Promise<readonly number[]> {
    return this.#runtime.ps(this.id).catch(() => []);
  }

  /** Run a further process in the container. @throws ExecutorError invalid-argument, wrong-state, user-unknown; RuntimeError */
  async exec(request: ExecRequest): Promise<ExecResult> {
    checkExec(request);
    this.#mustRun();
    const user = request.user === undefined ? undefined : findUser(this.#description!.rootfs, request.user);
    this.#options.onEvent?.({ type: "exec", id: this.id, cmd: request.cmd });
    const cgroup = await this.#cgroupOfContainer();
    const name = `exec-${randomUUID()}`;
    return exec({ runtime: this.#runtime, id: this.id, cgroup, name, user: user && `${user.uid}:${user.gid}` }, request);
  }

  /** What the container uses now. @throws ExecutorError wrong-state */
  async stats(): Promise<Stats> {
    this.#mustRun();
    const cgroup = await this.#cgroupOfContainer();
    if (cgroup === undefined) throw new ExecutorError("wrong-state", `executor ${this.id} has no cgroup`);
    this.#meter ??= new Meter(cgroup, this.#process!.startedMs);
    return this.#meter.read();
  }

  #cgroupOfContainer(): Promise<Cgroup | undefined> {
    this.#cgroup ??= this.#runtime.inspect(this.id).then(
      ({ cgroup }) => cgroup,
      (error: unknown) => {
        this.#cgroup = undefined;
        throw error;
      },
    );
    return this.#cgroup;
  }

  /** Change limits of the running container; what is not named stays. @throws ExecutorError invalid-argument, RuntimeError */
  async update(resources: Resources): Promise<void> {
    const changes = ociResources(resources, cgroupVersion()) as { memory?: Record<string, unknown> };
    this.#mustRun();
    // How eagerly the kernel swaps was settled at the launch.
    const { swappiness: _, ...memory } = changes.memory ?? {};
    await this.#runtime.update(this.id, { ...changes, ...(changes.memory ? { memory } : {}) });
  }

  async pause(): Promise<void> {
    this.#mustRun();
    await this.#runtime.pause(this.id);
  }

  async resume(): Promise<void> {
    this.#mustRun();
    await this.#runtime.resume(this.id);
  }

  /** With stdio.stdin "pipe", in the process that has launched it. */
  get stdin(): Writable | undefined {
    return this.#stdin;
  }

  /** With stdio.stdout "pipe": what nobody has read yet. The container waits when nobody reads. */
  get stdout(): Readable | undefined {
    return this.#output("stdout");
  }

  get stderr(): Readable | undefined {
    return this.#output("stderr");
  }

  #output(name: StreamName): Readable | undefined {
    if (name === "stdin" || this.#ended === undefined || !this.#description?.pipes.includes(name)) return undefined;
    const known = this.#outputs.get(name);
    if (known) return known;
    const { path, record } = this.#directory;
    const output = readOutput({ fifo: pipePath(path, name), saved: `${record}.${name}`, ended: this.#ended, hold: (on) => this.#hold(on) });
    this.#outputs.set(name, output);
    return output;
  }

  /** Forget an executor that has ended: its exit record and what is left of its output. @throws ExecutorError wrong-state */
  remove(): void {
    if (this.#state !== "exited" && this.#state !== "failed" && this.#state !== "idle") {
      throw new ExecutorError("wrong-state", `executor ${this.id} is ${this.#state}`);
    }
    if (this.#state === "exited") this.#directory.remove();
  }

  #mustRun(): void {
    if (this.#state !== "running" && this.#state !== "terminating") {
      throw new ExecutorError("wrong-state", `executor ${this.id} is ${this.#state}, not running`);
    }
  }

  #enter(state: ExecutorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onEvent?.({ type: "state", id: this.id, state });
  }
}
