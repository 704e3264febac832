/** The port to the runtime: the executor library, one executor for each incarnation of a container. */
import {
  type ExecHandle,
  Executor,
  type ExecutorEntry,
  ExecutorError,
  type Fence,
  type LaunchCommand,
  type LogUse,
  locateRuntime,
  type ProcessState,
  type Resources,
  type SpawnRequest,
  type Stats,
} from "../../executor/index.ts";
import type { ContainerExit } from "../model/index.ts";
import { isEnding } from "./holder.ts";
import { LaunchMemory } from "./launch-memory.ts";

export interface RuntimeOptions {
  /** Absolute directory of the executors. */
  readonly stateDir: string;
  /** Absolute place for a file system in memory: of containers whose environment has secrets. It is mounted while there are some. */
  readonly memoryDir: string;
  /** The program runt; undefined: that of the package, RUNT_BINARY, PATH. */
  readonly binary: string | undefined;
  /** A launch that takes longer is given up. */
  readonly launchTimeoutMs: number;
  /** Inside of which this process is; what outlives it is let out. */
  readonly fence: Fence | undefined;
}

/** The state of a container in the runtime. absent: nothing exists, and no earlier attempt can still create it. */
export type Found = { readonly state: "absent" } | { readonly state: "running" | "exited"; readonly process: ProcessState };

/** What is on disk of a container, whoever has made it. */
export interface Present {
  readonly id: string;
  /** Some process of it may be there. */
  readonly isRunning: boolean;
  /** Empty where they cannot be read. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface OnDisk {
  readonly state: "running" | "exited";
  readonly process: ProcessState;
}

export interface Ends {
  /** Once for each container that is followed: nothing of it is left. */
  onExit(id: string, process: ProcessState): void;
  /** What is on disk of it cannot be read: how it ends will not be known. */
  onLost(id: string, error: unknown): void;
}

export class ContainerRuntime {
  /** Path of the program runt. */
  readonly binary: string;
  readonly #options: RuntimeOptions;
  readonly #ends: Ends;
  readonly #memory: LaunchMemory;
  readonly #known = new Map<string, Executor>();
  readonly #followed = new Set<string>();

  /** @throws ExecutorError runtime-not-found, runtime-version */
  constructor(options: RuntimeOptions, ends: Ends) {
    this.#options = options;
    this.#ends = ends;
    this.#memory = new LaunchMemory(options.memoryDir);
    this.binary = options.binary ?? locateRuntime();
    // A runt that is missing or of another version is said at the start, not at the first task.
    this.#executor("any");
  }

  /**
   * Make the container and run its program, within the time. What is left of a failed launch is gone.
   * @param hasSecrets its environment has some: what is written of it is in memory. @throws as Executor.launch
   */
  async launch(id: string, command: LaunchCommand, hasSecrets = false): Promise<ProcessState> {
    const { launchTimeoutMs } = this.#options;
    const make = (executor: Executor) => executor.launch(command, { abort: AbortSignal.timeout(launchTimeoutMs) });
    const plain = { ...this.#common(), id };
    const executor = new Executor(hasSecrets ? { ...plain, memoryDir: this.#memory.directory } : plain);
    const state = await (hasSecrets ? this.#memory.during(() => make(executor)) : make(executor));
    this.#known.set(id, executor);
    await this.#options.fence?.release(id);
    return state;
  }

  /** From now on its end is told. After what has been found of it was handed over: an end must not overtake a beginning. */
  follow(id: string): void {
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    this.#known
      .get(id)
      ?.wait()
      .then(
        (process) => this.#ends.onExit(id, process),
        (error) => this.#ends.onLost(id, error),
      );
  }

  /**
   * Look up what an earlier daemon, or this one, has launched under this id. A launch that is still going on is waited for; one that cannot come to an
   * end any more is undone. @throws ExecutorError protocol, state-unreadable, stuck
   */
  async find(id: string): Promise<Found> {
    let executor = this.#known.get(id);
    if (executor === undefined) {
      try {
        executor = await Executor.adopt({ ...this.#common(), id });
      } catch (error) {
        if (error instanceof ExecutorError && error.code === "id-unknown") return { state: "absent" };
        throw error;
      }
      if (executor.state === "failed") return { state: "absent" };
      this.#known.set(id, executor);
    }
    return { state: executor.state === "exited" ? "exited" : "running", process: executor.process! };
  }

  /** Of a container that runs: what was running in it for an earlier daemon, and for its clients, is ended. @throws as Executor.endLeftExecs */
  async endLeftExecs(id: string): Promise<number> {
    return (await this.#present(id)).endLeftExecs();
  }

  /** The signal, after the grace SIGKILL for everything. Returns when its cgroup is empty, with its end; undefined: it is not there. @throws ExecutorError stuck */
  async stop(id: string, signal: string | number, graceMs: number): Promise<ProcessState | undefined> {
    if ((await this.find(id)).state === "absent") return undefined;
    const { state } = await this.#known.get(id)!.shutdown({ signal, graceMs });
    return state ?? undefined;
  }

  /** Other limits. @throws as Executor.update; Error: it does not run */
  async update(id: string, limits: Resources): Promise<void> {
    if ((await this.find(id)).state !== "running") throw new Error("the container does not run");
    await this.#known.get(id)!.update(limits);
  }

  /** Run a health check in it: healthy is an exit with 0 in time. `output`: the end of what it has printed. @throws as Executor.exec */
  async check(id: string, [cmd = "", ...args]: readonly string[], deadlineMs: number): Promise<{ isHealthy: boolean; output: string }> {
    if ((await this.find(id)).state !== "running") return { isHealthy: false, output: "the container does not run" };
    const { exitCode, output } = await this.#known.get(id)!.exec({ cmd, args, deadlineMs });
    return { isHealthy: exitCode === 0, output: output.toString() };
  }

  /** The end of one whose process is ending or has ended; undefined: it runs, or is not known here. */
  async endIfEnding(id: string): Promise<ProcessState | undefined> {
    const executor = this.#known.get(id);
    return executor?.process && isEnding(executor.process) ? executor.wait() : undefined;
  }

  /** A further process in it. @throws as Executor.spawn; ExecutorError wrong-state: it is not there */
  async spawn(id: string, request: SpawnRequest): Promise<ExecHandle> {
    return (await this.#present(id)).spawn(request);
  }

  /** Its streams and its end. @throws ExecutorError wrong-state: it is not there */
  async streams(id: string): Promise<Pick<Executor, "openStdin" | "resize" | "wait">> {
    return this.#present(id);
  }

  /** @throws ExecutorError wrong-state: it is not there */
  async stats(id: string): Promise<Stats> {
    return (await this.#present(id)).stats();
  }

  async #present(id: string): Promise<Executor> {
    if ((await this.find(id)).state !== "running") throw new ExecutorError("wrong-state", `container ${id} does not run`);
    return this.#known.get(id)!;
  }

  /** undefined: it is not there, or has printed nothing yet. */
  logUse(id: string): LogUse | undefined {
    return this.#known.get(id)?.logUse();
  }

  /** Forget a container that has ended; one that is not there is forgotten already. @throws ExecutorError wrong-state: it runs */
  async remove(id: string): Promise<void> {
    if (await this.#isUnreadable(id)) await Executor.discard({ ...this.#common(), id });
    else this.#known.get(id)?.remove();
    this.#known.delete(id);
    this.#followed.delete(id);
    await this.#memory.leave();
  }

  /** Everything that is on disk below the state directory but those: nothing is changed by looking. */
  async present(known: ReadonlySet<string> = new Set()): Promise<Present[]> {
    const { stateDir } = this.#options;
    const entries = (await Executor.list(stateDir)).filter(({ id }) => !known.has(id));
    return entries.map(({ id, state, process }) => ({
      id,
      isRunning: process !== null && state !== "exited" && state !== "draining",
      annotations: Executor.annotations(stateDir, id),
    }));
  }

  /** What the disk says of each, by id; undefined: it is neither running nor ended. Changes nothing. */
  async onDisk(): Promise<Map<string, OnDisk | undefined>> {
    const entries = await Executor.list(this.#options.stateDir);
    return new Map(entries.map((entry) => [entry.id, onDiskOf(entry)]));
  }

  /** How those have ended whose end is recorded on the disk. Changes nothing. */
  async ended(): Promise<Map<string, ContainerExit>> {
    const entries = await Executor.list(this.#options.stateDir);
    return new Map(
      entries.flatMap(({ id, state, process }) =>
        state === "exited" && process !== null && !process.unknown ? [[id, exitOf(process)] as const] : [],
      ),
    );
  }

  /** A power cut has left it half written. @throws as find, for other causes */
  async #isUnreadable(id: string): Promise<boolean> {
    try {
      await this.find(id);
      return false;
    } catch (error) {
      if (error instanceof ExecutorError && error.code === "state-unreadable") return true;
      throw error;
    }
  }

  #executor(id: string): Executor {
    return new Executor({ ...this.#common(), id });
  }

  #common() {
    return { stateDir: this.#options.stateDir, binary: this.binary };
  }
}

function onDiskOf({ state, process }: ExecutorEntry): OnDisk | undefined {
  if (process === null) return undefined;
  if (state === "exited") return { state, process };
  return state === "running" || state === "paused" ? { state: "running", process } : undefined;
}

export function exitOf({ exitCode, signal, oomKilled, unknown, endedMs }: ProcessState): ContainerExit {
  return { code: exitCode, signal, oomKilled, unknown, endedWallMs: endedMs ?? Date.now() };
}
