/** One program in a container of its own, from launch to end. */
import type { Readable, Writable } from "node:stream";
import { Container } from "./container.ts";
import { Directory } from "./directory.ts";
import { exec } from "./exec/collect.ts";
import { ExecHandle, type ExecTarget } from "./exec/handle.ts";
import { endLeftovers, targetIn } from "./exec/leftovers.ts";
import { checkExec, checkSpawn, type ExecRequest, type ExecResult, type ProgramRequest, type SpawnRequest } from "./exec/request.ts";
import type { LaunchCommand, Resources, TerminalSize } from "./launch/command.ts";
import { changedResources } from "./launch/resources.ts";
import { type Adoption, adoptAll, type ExecutorEntry, listExecutors } from "./list.ts";
import { OwnCgroup } from "./own-cgroup.ts";
import type { GivenProcess } from "./pool/claim.ts";
import { cgroupVersion } from "./process/cgroups.ts";
import { ageOf } from "./process/table.ts";
import { type LogUse, useOf } from "./record.ts";
import { Runtime } from "./runtime/client.ts";
import { checkShape, KIND } from "./shape.ts";
import { checkPlan } from "./shutdown.ts";
import { signalNumber } from "./signals.ts";
import { Statistics } from "./stats/statistics.ts";
import { checkStream, type StatsStreamOptions } from "./stats/stream.ts";
import type { Stats } from "./stats/types.ts";
import { Streams } from "./streams.ts";
import { Supervision } from "./supervision.ts";
import type {
  ExecutorOptions,
  ExecutorState,
  ExecutorVersion,
  LaunchOptions,
  ProcessState,
  ShutdownPlan,
  ShutdownResult,
} from "./types.ts";
import { LIBRARY_VERSION, PROTOCOL } from "./version.ts";

const OPTIONS = {
  stateDir: KIND.text,
  memoryDir: KIND.text,
  id: KIND.text,
  cgroup: KIND.object,
  binary: KIND.text,
  onEvent: KIND.call,
  atScopeEnd: KIND.object,
  moved: KIND.flag,
} as const satisfies Readonly<Record<keyof ExecutorOptions, unknown>>;

export class Executor {
  readonly id: string;
  readonly #directory: Directory;
  readonly #runtime: Runtime;
  readonly #options: ExecutorOptions;
  readonly #supervision: Supervision;
  readonly #statistics: Statistics;
  readonly #streams: Streams;

  /** Nothing is done yet. @throws ExecutorError invalid-argument, runtime-not-found, runtime-version */
  constructor(options: ExecutorOptions) {
    checkShape("options", options, OPTIONS, ["stateDir", "id"]);
    this.#directory = new Directory(options.stateDir, options.id, options.memoryDir);
    this.#streams = new Streams(this.#directory);
    this.#options = options;
    this.id = options.id;
    this.#runtime = new Runtime({
      root: this.#directory.runtimeRoot,
      ...(options.binary === undefined ? {} : { binary: options.binary }),
    });
    const { id, cgroup } = options;
    const container = new Container(this.#directory, this.#runtime, cgroup && new OwnCgroup(id, cgroup));
    this.#supervision = new Supervision(options, container, this.#streams, () => this.#statistics.end());
    this.#statistics = new Statistics({
      runtime: this.#runtime,
      id: this.id,
      ageMs: () => ageOf(this.process!),
      hasEnded: () => this.#supervision.hasEnded(),
    });
  }

  /** The state now. The kernel is asked whether it is paused, or was started by another process. */
  get state(): ExecutorState {
    return this.#supervision.state;
  }

  /** undefined before the launch. */
  get process(): ProcessState | undefined {
    return this.#supervision.process;
  }

  version(): ExecutorVersion {
    return { library: LIBRARY_VERSION, protocol: PROTOCOL, runtime: this.#runtime.version() };
  }

  /**
   * Make the container and run the program in it; returns when it runs. A launch that fails, or is aborted, leaves nothing.
   * @throws ExecutorError invalid-argument, id-exists, user-unknown, launch-failed, aborted; ProgramError, when the program cannot be executed
   */
  async launch(command: LaunchCommand, { abort }: LaunchOptions = {}): Promise<ProcessState> {
    return this.#supervision.make(command, "run", abort);
  }

  /**
   * Make the container; its first process waits for start, and this state outlives the caller. A create that fails leaves nothing. The program is
   * looked for now. @throws as launch
   */
  async create(command: LaunchCommand, { abort }: LaunchOptions = {}): Promise<ProcessState> {
    return this.#supervision.make(command, "create", abort);
  }

  /**
   * Run the program of a container that create has made, in this process or another one; returns when it runs. `given`: the process of a template (Pool hands it over), without
   * a process of the host.
   * @throws ExecutorError wrong-state, also when another process has started or ended it; launch-failed and ProgramError: then the container ends
   */
  async start(given?: GivenProcess): Promise<ProcessState> {
    return this.#supervision.start(given);
  }

  /**
   * The executor of this id, launched by this or another process, which may be dead. State "failed": its launch never came to an end, and what it left
   * has been removed. @throws ExecutorError id-unknown, protocol, state-unreadable, state-moved
   */
  static async adopt(options: ExecutorOptions): Promise<Executor> {
    const executor = new Executor(options);
    await executor.#supervision.adopt();
    return executor;
  }

  /**
   * Remove an executor that cannot be adopted because what is on disk of it is lost or cannot be read (id-unknown, state-unreadable), as after a power cut: with whatever of it
   * may be there. With `cgroup` its processes get the signal of the plan, and after the grace SIGKILL; default: SIGKILL at once. Nobody will know how it ended.
   * One of another state directory (state-moved) is left alone unless `moved` is set. @throws ExecutorError invalid-argument, state-moved, runtime-not-found, runtime-version, stuck; RuntimeError
   */
  static async discard(options: ExecutorOptions, plan: ShutdownPlan = { graceMs: 0 }): Promise<void> {
    const { container } = new Executor(options).#supervision;
    if (options.moved !== true) container.directory.refuseMoved();
    await container.discard(checkPlan(plan));
  }

  /** Whether something of an executor is left that cannot be adopted: processes, or a cgroup or a state of the runtime only. Changes nothing. */
  static left(options: ExecutorOptions): "processes" | "traces" | "nothing" {
    const { cgroup, directory } = new Executor(options).#supervision.container;
    if (cgroup?.isOccupied()) return "processes";
    return cgroup?.exists() || directory.exists() || directory.hasRuntime() ? "traces" : "nothing";
  }

  /**
   * Why the runtime can no longer act on a container that runs: its own state of it is gone, damaged or another one's. Only shutdown can be called then, and ends it if its
   * `cgroup` is known. undefined: it can, or the container has ended.
   */
  async lost(): Promise<string | undefined> {
    return this.#supervision.container.lost();
  }

  /** What is on disk in a state directory, by id; a directory that is not there has none. Changes nothing, and needs no `runt`. */
  static async list(stateDir: string): Promise<ExecutorEntry[]> {
    return listExecutors(stateDir);
  }

  /** What its launch was annotated with; none where that cannot be read. Changes nothing, and needs no `runt`. @throws ExecutorError invalid-argument */
  static annotations(stateDir: string, id: string): Readonly<Record<string, string>> {
    return new Directory(stateDir, id).annotations();
  }

  /**
   * Every executor of a state directory, by id: adopted, or with the error for which it could not be. None is lost because another one is broken.
   * @throws ExecutorError invalid-argument, runtime-not-found, runtime-version
   */
  static async adoptAll(options: Omit<ExecutorOptions, "id">): Promise<Adoption<Executor>[]> {
    // What is wrong for all of them is said once.
    new Executor({ ...options, id: "any" });
    return adoptAll(options.stateDir, (id) => Executor.adopt({ ...options, id }));
  }

  /** The end of the program; the same for every caller. A failed launch has none: it throws. */
  async wait(): Promise<ProcessState> {
    return this.#supervision.wait();
  }

  /** A signal by name or number to the program, or to all processes. @throws ExecutorError invalid-argument, wrong-state */
  async signal(signal: string | number, { all = false } = {}): Promise<void> {
    const number = signalNumber(signal);
    this.#supervision.mustBeMade();
    await this.#runtime.kill(this.id, number, { all });
  }

  /**
   * End it: the signal, then after the grace SIGKILL for everything in its cgroup. Returns when nothing of it is left; may be called again.
   * @throws ExecutorError invalid-argument (nothing was done), stuck
   */
  async shutdown(plan: ShutdownPlan = {}): Promise<ShutdownResult> {
    return this.#supervision.shutDown(checkPlan(plan));
  }

  /**
   * Run a further process in the container, and collect what it prints.
   * @throws ExecutorError invalid-argument, wrong-state, user-unknown, aborted, stuck; ProgramError, when it cannot be executed; RuntimeError
   */
  async exec(request: ExecRequest): Promise<ExecResult> {
    checkExec(request);
    return exec(await this.#target(request), request);
  }

  /** Start a further process in the container, with streams of the caller's; returns when it runs. @throws as exec */
  async spawn(request: SpawnRequest): Promise<ExecHandle> {
    checkSpawn(request);
    const handle = await ExecHandle.start(await this.#target(request), request, request.stdio ?? {});
    return handle.started();
  }

  /**
   * End what execs of a program that has died have left in the container. For a caller that knows that no other program runs any in it. Returns of how many there was
   * something. @throws ExecutorError wrong-state, stuck; RuntimeError
   */
  async endLeftExecs(): Promise<number> {
    this.#supervision.mustRun();
    return endLeftovers({ runtime: this.#runtime, id: this.id, pid: this.process!.pid, directory: this.#directory.path });
  }

  async #target({ cmd, user }: ProgramRequest): Promise<ExecTarget> {
    this.#supervision.mustRun();
    const { rootfs } = this.#supervision.description!;
    const target = await targetIn({ runtime: this.#runtime, directory: this.#directory, statistics: this.#statistics, rootfs }, user);
    this.#options.onEvent?.({ type: "exec", id: this.id, cmd });
    return target;
  }

  /**
   * What the container uses now; `cpu.percent` is since the last call. With `processes: false` it looks at no single process, and `processes` is empty:
   * that is far cheaper if there are many. @throws ExecutorError wrong-state
   */
  async stats({ processes = true }: { readonly processes?: boolean } = {}): Promise<Stats> {
    this.#supervision.mustBeMade();
    return this.#statistics.read(processes);
  }

  /** What the kernel of its virtual machine counts, as `runt machine metrics --format json` prints it. @throws ExecutorError wrong-state; RuntimeError */
  async machineMetrics(): Promise<string> {
    this.#supervision.mustRun();
    return this.#runtime.machineMetrics(this.id);
  }

  /**
   * What the container uses, again and again: `for await (const stats of executor.statsStream())`. It ends with the container; a loop that is left
   * leaves nothing behind. `cpu.percent` is since the value before, and of the first one since the launch.
   * @throws ExecutorError invalid-argument, wrong-state; aborted, in the loop
   */
  statsStream(options: StatsStreamOptions = {}): AsyncGenerator<Stats, void, undefined> {
    checkStream(options);
    this.#supervision.mustRun();
    return this.#statistics.stream(options);
  }

  /** What went into the log of a launch with `stdio.log`, and what did not; undefined: there is none. */
  logUse(): LogUse | undefined {
    return useOf(this.#directory.logCounts());
  }

  /** Change limits of the container, running or created; what is not named stays. @throws ExecutorError invalid-argument, RuntimeError */
  async update(resources: Resources): Promise<void> {
    const changes = changedResources(resources, cgroupVersion());
    this.#supervision.mustBeMade();
    await this.#runtime.update(this.id, changes);
  }

  /** Stop every process of it where it is. @throws ExecutorError wrong-state; RuntimeError wrong-status, when it is paused already */
  async pause(): Promise<void> {
    this.#supervision.mustRun();
    await this.#runtime.pause(this.id);
    this.#supervision.tell("paused");
  }

  /** Let it go on. @throws ExecutorError wrong-state; RuntimeError wrong-status, when it is not paused */
  async resume(): Promise<void> {
    this.#supervision.mustRun();
    await this.#runtime.resume(this.id);
    this.#supervision.tell("running");
  }

  /**
   * The new size of the terminal of a launch with `pty`, also of an adopted executor; the program gets SIGWINCH.
   * @throws ExecutorError invalid-argument; wrong-state: it has no terminal, or has ended
   */
  resize(size: TerminalSize): void {
    this.#supervision.mustBeMade();
    this.#streams.resize(size);
  }

  /** With stdio.stdin "pipe", in the process that has launched it. */
  get stdin(): Writable | undefined {
    return this.#streams.stdin;
  }

  /** With stdio.stdin "open", in any process: its end is not read by the container. With "pipe" it is, once `stdin` has ended too. @throws ExecutorError wrong-state: it has none, or has ended */
  openStdin(): Writable {
    this.#supervision.mustBeMade();
    return this.#streams.writeStdin();
  }

  /** With stdio.stdout "pipe": unread output. The container waits when it is not read. */
  get stdout(): Readable | undefined {
    return this.#supervision.output("stdout");
  }

  get stderr(): Readable | undefined {
    return this.#supervision.output("stderr");
  }

  /** Forget an executor that has ended: its exit record and what is left of its output. @throws ExecutorError wrong-state */
  remove(): void {
    this.#supervision.remove();
  }

  /**
   * `await using executor = ...`: ends it (as options.atScopeEnd says), waits until nothing of it is left, and forgets it. Also one that was adopted.
   * @throws ExecutorError stuck
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown(this.#options.atScopeEnd);
    this.remove();
  }
}
