/** The container of an executor from its launch or adoption to its end: in which state it is, which process runs in it, and who reads its output. */
import type { Readable } from "node:stream";
import type { Container, Look } from "./container.ts";
import type { Description } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import type { LaunchCommand } from "./launch/command.ts";
import type { StreamName } from "./launch/stdio.ts";
import { type Made, makeContainer, prepare, programOf } from "./making.ts";
import type { GivenProcess } from "./pool/claim.ts";
import { freezerFile, isFrozen } from "./process/cgroups.ts";
import { isAlive, isShortage, mayBeAlive } from "./process/procfs.ts";
import { type CheckedPlan, shutDown } from "./shutdown.ts";
import type { Streams } from "./streams.ts";
import type { ExecutorOptions, ExecutorState, ProcessState, ShutdownResult } from "./types.ts";
import { type RecordWatch, watchRecord } from "./watch-record.ts";

export class Supervision {
  readonly container: Container;
  readonly #options: Pick<ExecutorOptions, "id" | "onEvent">;
  readonly #streams: Streams;
  readonly #onEnd: () => void;
  readonly #lifecycle: Lifecycle;
  #description: Description | undefined;
  #process: ProcessState | undefined;
  #follower: Follower | undefined;
  #freezer: string | undefined;

  /** `onEnd`: called when nothing of the container is left. */
  constructor(options: Pick<ExecutorOptions, "id" | "onEvent">, container: Container, streams: Streams, onEnd: () => void) {
    this.container = container;
    this.#options = options;
    this.#streams = streams;
    this.#onEnd = onEnd;
    this.#lifecycle = new Lifecycle(options);
  }

  get state(): ExecutorState {
    try {
      return this.#stateNow();
    } catch (error) {
      // Nobody can say whether it is paused, or was started by another process.
      if (!isShortage(error)) throw error;
      return this.#lifecycle.state;
    }
  }

  #stateNow(): ExecutorState {
    if (this.#lifecycle.state === "created") return this.container.awaitsStart() || !isAlive(this.#process!) ? "created" : "running";
    if (this.#lifecycle.state !== "running" || this.#process === undefined) return this.#lifecycle.state;
    this.#freezer ??= isAlive(this.#process) ? freezerFile(this.#process.pid) : undefined;
    return this.#freezer !== undefined && isFrozen(this.#freezer) ? "paused" : "running";
  }

  /** undefined before the launch. */
  get process(): ProcessState | undefined {
    return this.#process;
  }

  /** undefined before the launch. */
  get description(): Description | undefined {
    return this.#description;
  }

  /** With "run" the program runs afterwards, with "create" the first process waits for start. A failure leaves nothing. @throws as Executor.launch */
  async make(command: LaunchCommand, verb: "create" | "run", abort: AbortSignal | undefined): Promise<ProcessState> {
    this.#lifecycle.mustBe("idle", "idle");
    const { directory, runtime } = this.container;
    const preparation = prepare(directory, command);
    this.#lifecycle.enter("launching");
    this.#options.onEvent?.({ type: "launch", id: this.#options.id, cmd: programOf(command), binary: runtime.binary });
    try {
      this.#take(await makeContainer(this.container, command, preparation, verb, abort));
    } catch (error) {
      this.#lifecycle.enter("failed");
      throw error;
    } finally {
      preparation.close();
    }
    return this.#process!;
  }

  #take({ description, process, stdio }: Made): void {
    this.#description = description;
    this.#process = process;
    if (stdio.stdin !== undefined) this.#streams.openStdin(stdio.stdin);
    this.#follow();
    stdio.closeReaders();
    // The monitor of a container that has ended already may have taken this process for a reader of its output: then it is one.
    const phase = this.container.directory.exitRecord()?.phase;
    if (phase !== "created" && phase !== "running") for (const name of description.pipes) this.output(name);
    stdio.close(false);
  }

  /** @throws as Executor.start */
  async start(given?: GivenProcess): Promise<ProcessState> {
    // A claim finds out itself whether init waits.
    const { state } = given === undefined ? this : this.#lifecycle;
    if (state !== "created") throw new ExecutorError("wrong-state", `executor ${this.#options.id} is ${state}, not created`);
    const startedMs = await this.container.start(given);
    this.#process = { ...this.#process!, startedMs };
    if (this.#lifecycle.state === "created") this.#lifecycle.enter("running");
    return this.#process;
  }

  /** The container that another process has launched, or this one earlier. @throws as Executor.adopt */
  async adopt(): Promise<void> {
    this.#description = this.container.directory.description();
    this.#process = await this.container.find();
    if (this.#process === undefined) return this.#lifecycle.enter("failed");
    this.#follow();
    await this.#follower?.seen;
  }

  #follow(): void {
    this.#lifecycle.enter(this.container.awaitsStart() ? "created" : "running");
    this.#follower = new Follower(this.container, (look) => this.#see(look));
  }

  #see(look: Look): void {
    if (look.now === "exited") this.#process = look.state;
    this.#lifecycle.see(look);
    if (look.now !== "exited") return;
    // Nobody reads it any more.
    this.#streams.stdin?.destroy();
    this.#onEnd();
  }

  /** @throws ExecutorError wrong-state: nothing was launched */
  async wait(): Promise<ProcessState> {
    if (this.#follower === undefined) throw this.#lifecycle.wrong(": there is nothing to wait for");
    return this.#follower.wait();
  }

  /** Returns when nothing of it is left. @throws ExecutorError stuck */
  async shutDown(plan: CheckedPlan): Promise<ShutdownResult> {
    // No program runs yet that could take the signal.
    const graceMs = this.state === "created" ? 0 : plan.graceMs;
    if (this.#lifecycle.state === "idle" || this.#lifecycle.state === "failed") return { endedBy: "not-launched", state: null };
    if (this.#follower === undefined) throw this.#lifecycle.wrong();
    if (this.#lifecycle.state === "exited") return { endedBy: "already", state: await this.#follower.ended };
    const enter = (state: ExecutorState) => this.#lifecycle.shutDown(state);
    const { runtime, cgroup, directory } = this.container;
    const isLost = () => directory.runtimeLoss() !== undefined;
    const endedBy = await shutDown({ runtime, cgroup, isLost, id: this.#options.id, wait: () => this.wait(), enter }, { ...plan, graceMs });
    return { endedBy, state: await this.#follower.ended };
  }

  /** An output that goes into a pipe; undefined: it does not, or nothing was launched. The same for every caller. */
  output(name: StreamName): Readable | undefined {
    if (name === "stdin" || this.#follower === undefined || !this.#description?.pipes.includes(name)) return undefined;
    return this.#streams.output(name, this.#follower);
  }

  /** @throws ExecutorError wrong-state: it has not ended */
  remove(): void {
    const { state } = this.#lifecycle;
    if (state !== "exited" && state !== "failed" && state !== "idle") throw this.#lifecycle.wrong();
    if (state === "exited") this.container.directory.remove();
  }

  /** Pausing is an event, but no state that is kept. */
  tell(state: "paused" | "running"): void {
    this.#lifecycle.tell(state);
  }

  hasEnded(): boolean {
    return this.#lifecycle.state === "exited" || !mayBeAlive(this.#process!);
  }

  /** It has processes: its program's, or the one that waits for start. @throws ExecutorError wrong-state */
  mustBeMade(): void {
    if (this.#lifecycle.state !== "created") this.mustRun();
  }

  /** @throws ExecutorError wrong-state */
  mustRun(): void {
    if (this.#lifecycle.state === "created" && this.state === "running") this.#lifecycle.enter("running");
    this.#lifecycle.mustBe("running", "running", "terminating");
  }
}

/** The state of an executor: which state may follow which, and the event for each change. */
class Lifecycle {
  readonly #options: Pick<ExecutorOptions, "id" | "onEvent">;
  #state: ExecutorState = "idle";

  constructor(options: Pick<ExecutorOptions, "id" | "onEvent">) {
    this.#options = options;
  }

  get state(): ExecutorState {
    return this.#state;
  }

  enter(state: ExecutorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.tell(state);
  }

  /** Pausing is told, but it is no state of its own: the kernel is asked for it. */
  tell(state: ExecutorState): void {
    this.#options.onEvent?.({ type: "state", id: this.#options.id, state });
  }

  /** A state of shutdown. A second caller of it does not take back what the first one has entered. */
  shutDown(state: ExecutorState): void {
    if (state !== "terminating" || this.#state === "running") this.enter(state);
  }

  /** What a look at the container has shown. */
  see({ now }: Look): void {
    if (now === "running" && this.#state === "created") this.enter("running");
    if (now === "exited") this.enter("exited");
    // What shutdown has entered says more.
    if (now === "stuck" || (now === "draining" && this.#state !== "killing" && this.#state !== "stuck")) this.enter(now);
  }

  /** @throws ExecutorError wrong-state */
  mustBe(wanted: string, ...states: readonly ExecutorState[]): void {
    if (!states.includes(this.#state)) throw this.wrong(`, not ${wanted}`);
  }

  wrong(why = ""): ExecutorError {
    return new ExecutorError("wrong-state", `executor ${this.#options.id} is ${this.#state}${why}`);
  }
}

/** A container followed to its end, by its exit record. */
class Follower {
  /** Settles when nothing of the container is left. */
  readonly ended: Promise<ProcessState>;
  /** Settles when the first look at the record is over. */
  readonly seen: Promise<void>;
  readonly #watch: RecordWatch;
  #waiters = 0;

  /** `tell`: what each look has seen. */
  constructor(container: Container, tell: (look: Look) => void) {
    this.#watch = watchRecord(container.directory.record);
    let seen = () => {};
    this.seen = new Promise((resolve) => {
      seen = resolve;
    });
    this.ended = this.#untilEnd(container, tell, () => seen());
    // wait() rejects with it. Without a caller of wait() it must not end this process.
    this.ended.catch(() => {});
  }

  async #untilEnd(container: Container, tell: (look: Look) => void, seen: () => void): Promise<ProcessState> {
    try {
      for (;;) {
        const look = await container.look();
        tell(look);
        if (look.now === "exited") return look.state;
        seen();
        await this.#watch.changed();
      }
    } finally {
      seen();
      this.#watch.close();
    }
  }

  async wait(): Promise<ProcessState> {
    this.hold(true);
    try {
      return await this.ended;
    } finally {
      this.hold(false);
    }
  }

  /** The timer keeps this process alive only while a caller waits. */
  hold(on: boolean): void {
    this.#waiters += on ? 1 : -1;
    if (this.#waiters > 0) this.#watch.ref();
    else this.#watch.unref();
  }
}
