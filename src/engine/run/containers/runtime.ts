/** Connects the engine to the runtime through the executor library: one executor for each incarnation of a container. */

import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type ExecHandle,
  Executor,
  type ExecutorEntry,
  ExecutorError,
  type Fence,
  type KnownCgroup,
  keepSpareFifos,
  type LaunchCommand,
  type LaunchOptions,
  type LogUse,
  locateRuntime,
  type ProcessState,
  type Resources,
  type ShutdownPlan,
  type SpawnRequest,
  type Stats,
} from "../../../executor/index.ts";
import type { ContainerExit } from "../../model/index.ts";
import type { EngineLog } from "../log.ts";
import { isEnding } from "./holder.ts";
import { LaunchMemory } from "./launch-memory.ts";

export interface RuntimeOptions {
  /** Absolute path of the directory that holds the executors' state. */
  readonly stateDir: string;
  /** Absolute path at which a tmpfs is mounted while containers with secrets in their environment exist. */
  readonly memoryDir: string;
  /** Path of the runt executable; undefined: searched in the package, RUNT_BINARY and PATH. */
  readonly binary: string | undefined;
  /** Path of the program that makes a container whose task names another runtime; undefined: `binary`. */
  readonly makerOf?: (id: string) => string | undefined;
  /** A launch that takes longer is cancelled. */
  readonly launchTimeoutMs: number;
  /** Where the cgroup of a container is. */
  readonly cgroupOf: (id: string) => KnownCgroup;
  /** The cgroup that confines this process. Containers are moved out of it, because they must outlive it. */
  readonly fence: Fence | undefined;
  readonly log: EngineLog;
}

/** The state of a container in the runtime. absent: it does not exist, and no earlier launch can still create it. */
export type Found =
  | { readonly state: "absent" }
  | { readonly state: "running" | "exited"; readonly process: ProcessState }
  /** Processes of it are there, and what is on disk of it is lost. It can only be stopped. */
  | { readonly state: "lost"; readonly message: string };

/** A container on disk, whichever program made it. */
export interface Present {
  readonly id: string;
  /** Whether a process of it may exist. */
  readonly isRunning: boolean;
  /** What is on disk of it cannot be read: it may run. */
  readonly isUnknown: boolean;
  /** Empty if the annotations cannot be read. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface OnDisk {
  /** lost: what is on disk cannot be used. */
  readonly state: "running" | "exited" | "lost";
  readonly process: ProcessState | null;
}

/** One of them is called, once. */
export interface FollowedEnd {
  /** All processes of the container are gone. */
  onExit(process: ProcessState): void;
  /** The container's state on disk cannot be read, so that its end will never be known. */
  onLost(error: unknown): void;
}

const WITHOUT_RECORDS: readonly string[] = ["id-unknown", "state-unreadable", "state-moved"];

export class ContainerRuntime {
  /** Path of the runt executable. */
  readonly binary: string;
  readonly #options: RuntimeOptions;
  readonly #memory: LaunchMemory;
  readonly #known = new Map<string, Executor>();
  readonly #followed = new Set<string>();
  readonly #endFifos: () => void;

  /** @throws ExecutorError runtime-not-found, runtime-version */
  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#memory = new LaunchMemory(options.memoryDir);
    this.binary = options.binary ?? locateRuntime();
    // Reports a missing runt or one of another version now, instead of at the first task.
    new Executor({ stateDir: options.stateDir, binary: this.binary, id: "any" });
    this.#endFifos = keepSpareFifos(options.stateDir);
  }

  /** What is kept for launches goes. */
  close(): void {
    this.#endFifos();
  }

  /** Has to be called before anything else of it is used. @throws Error: the directory in memory is not this daemon's */
  async secure(): Promise<void> {
    const removed = await this.#memory.secure();
    if (removed.length > 0)
      this.#options.log("error", "foreign-entries-removed", { directory: this.#memory.directory, names: removed.join(", ") });
  }

  /**
   * Creates the container and starts its program within the launch timeout. A failed launch leaves nothing behind.
   * @param hasSecrets whether its environment contains secrets: its files are written to memory. @throws as Executor.launch
   */
  async launch(id: string, command: LaunchCommand, hasSecrets = false): Promise<ProcessState> {
    const { launchTimeoutMs } = this.#options;
    const options = { abort: AbortSignal.timeout(launchTimeoutMs) };
    const make = (executor: Executor) =>
      command.userNamespace === undefined ? executor.launch(command, options) : launchWithUsers(executor, command, options);
    const maker = this.#options.makerOf?.(id);
    const plain = { ...this.#optionsOf(id), binary: maker ?? this.binary };
    const executor = new Executor(hasSecrets ? { ...plain, memoryDir: this.#memory.directory } : plain);
    const state = await (hasSecrets ? this.#memory.during(() => make(executor)) : make(executor));
    // What exists is managed by the usual program, so that a container can be ended even if its runtime is gone by then.
    this.#known.set(id, maker === undefined ? executor : await Executor.adopt(this.#optionsOf(id)));
    this.#options.fence?.release(id).catch((error) => this.#options.log("error", "monitor-not-released", { id, message: String(error) }));
    return state;
  }

  /** Waits for the end of a container, which is told once, to who asks first. */
  follow(id: string, { onExit, onLost }: FollowedEnd): void {
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    this.#known
      .get(id)
      ?.wait()
      .then(onExit, (error) => {
        // What is known of it is not true any more: whoever looks for it looks on disk.
        this.#forget(id);
        onLost(error);
      });
  }

  /**
   * Finds a container that this daemon or an earlier one has launched. Waits for a launch in progress, and rolls back one that was interrupted. Of one that has ended and whose
   * records are lost, the rest is removed. @throws ExecutorError protocol, stuck
   */
  async find(id: string): Promise<Found> {
    let executor = this.#known.get(id);
    if (executor === undefined) {
      try {
        executor = await Executor.adopt(this.#optionsOf(id));
      } catch (error) {
        // Those of a copy are not of this container, which is known by its cgroup.
        if (error instanceof ExecutorError && WITHOUT_RECORDS.includes(error.code)) return this.#withoutRecords(id, error.message);
        throw error;
      }
      if (executor.state === "failed") return { state: "absent" };
      if (executor.state === "created") {
        // A daemon has ended before it has started the program.
        await endUnstarted(executor);
        return { state: "absent" };
      }
      this.#known.set(id, executor);
    }
    if (executor.state === "exited") return { state: "exited", process: executor.process! };
    return { state: "running", process: executor.process! };
  }

  /** The same for a container that may have lost what the runtime knows of it: then it runs, and cannot be acted on. @throws as find */
  async examine(id: string): Promise<Found> {
    const found = await this.find(id);
    const lost = found.state === "running" ? await this.#known.get(id)!.lost() : undefined;
    return lost === undefined ? found : { state: "lost", message: lost };
  }

  async #withoutRecords(id: string, message: string): Promise<Found> {
    const left = Executor.left(this.#discarding(id));
    if (left === "processes") return { state: "lost", message };
    if (left === "traces") await this.#discard(id);
    return { state: "absent" };
  }

  async #discard(id: string, plan: ShutdownPlan = { graceMs: 0 }): Promise<void> {
    await Executor.discard(this.#discarding(id), plan);
    this.#forget(id);
    await this.#memory.leave();
  }

  /** A container whose link into memory is lost is still there. */
  #discarding(id: string) {
    const options = this.#optionsOf(id);
    return existsSync(join(this.#memory.directory, id)) ? { ...options, memoryDir: this.#memory.directory } : options;
  }

  #forget(id: string): void {
    this.#known.delete(id);
    this.#followed.delete(id);
  }

  /** Ends the execs that an earlier daemon left running in a container. Returns how many there were. @throws as Executor.endLeftExecs */
  async endLeftExecs(id: string): Promise<number> {
    return (await this.#present(id)).endLeftExecs();
  }

  /**
   * Sends the signal, and SIGKILL to all processes after the grace period. Returns the end when the
   * cgroup is empty; undefined: there is no such container. @throws ExecutorError stuck
   */
  async stop(id: string, signal: string | number, graceMs: number): Promise<ProcessState | undefined> {
    const { state: found } = await this.find(id);
    if (found === "lost") await this.#discard(id, { signal, graceMs });
    if (found === "absent" || found === "lost") return undefined;
    const { state } = await this.#known.get(id)!.shutdown({ signal, graceMs });
    return state ?? undefined;
  }

  /** Changes the container's limits. @throws as Executor.update; Error: it does not run */
  async update(id: string, limits: Resources): Promise<void> {
    if ((await this.find(id)).state !== "running") throw new Error("the container does not run");
    await this.#known.get(id)!.update(limits);
  }

  /** Runs a health check in the container. Exit code 0 before the deadline is healthy. `output`: the end of what the check printed. @throws as Executor.exec */
  async check(
    id: string,
    [cmd = "", ...args]: readonly string[],
    deadlineMs: number,
    place: Pick<SpawnRequest, "env" | "cwd" | "user"> = {},
  ): Promise<{ isHealthy: boolean; output: string }> {
    if ((await this.find(id)).state !== "running") return { isHealthy: false, output: "the container does not run" };
    const { exitCode, output } = await this.#known.get(id)!.exec({ cmd, args, deadlineMs, ...place });
    return { isHealthy: exitCode === 0, output: output.toString() };
  }

  /** Waits for the end of a container whose process is ending or has ended. undefined: it runs, or this engine does not know it. */
  async endIfEnding(id: string): Promise<ProcessState | undefined> {
    const executor = this.#known.get(id);
    return executor?.process && isEnding(executor.process) ? executor.wait() : undefined;
  }

  /** Starts a further process in a container. @throws as Executor.spawn; ExecutorError wrong-state: the container does not run */
  async spawn(id: string, request: SpawnRequest): Promise<ExecHandle> {
    return (await this.#present(id)).spawn(request);
  }

  /** Access to the streams and the end of a container. @throws ExecutorError wrong-state: the container does not run */
  async streams(id: string): Promise<Pick<Executor, "stdin" | "openStdin" | "resize" | "wait">> {
    return this.#present(id);
  }

  /** Without the table of its processes. @throws ExecutorError wrong-state: the container does not run */
  async stats(id: string): Promise<Stats> {
    return (await this.#present(id)).stats({ processes: false });
  }

  /** What the kernel of its virtual machine counts, as JSON. @throws ExecutorError wrong-state: the container does not run; RuntimeError */
  async machineMetrics(id: string): Promise<string> {
    return (await this.#present(id)).machineMetrics();
  }

  async #present(id: string): Promise<Executor> {
    if ((await this.find(id)).state !== "running") throw new ExecutorError("wrong-state", `container ${id} does not run`);
    return this.#known.get(id)!;
  }

  /** undefined: there is no such container, or it has printed nothing yet. */
  logUse(id: string): LogUse | undefined {
    return this.#known.get(id)?.logUse();
  }

  /** Removes a container that has ended, and what is left in its cgroup if its records are lost. Succeeds if it does not exist. @throws ExecutorError wrong-state: it runs; stuck */
  async remove(id: string): Promise<void> {
    if ((await this.find(id)).state === "lost") await this.#discard(id);
    else this.#known.get(id)?.remove();
    this.#forget(id);
    await this.#memory.leave();
  }

  /** All containers below the state directory except the `known` ones. Only reads. */
  async present(known: ReadonlySet<string> = new Set()): Promise<Present[]> {
    const { stateDir } = this.#options;
    const entries = (await Executor.list(stateDir)).filter(({ id }) => !known.has(id));
    return entries.map(({ id, state, process }) => ({
      id,
      isRunning: process !== null && state !== "exited" && state !== "draining",
      isUnknown: state === "unknown",
      annotations: Executor.annotations(stateDir, id),
    }));
  }

  /** The state of each container on disk, by runtime id; undefined: neither running nor ended. Only reads. */
  async onDisk(): Promise<Map<string, OnDisk | undefined>> {
    const entries = await Executor.list(this.#options.stateDir);
    return new Map(entries.map((entry) => [entry.id, onDiskOf(entry)]));
  }

  /** The ends that are recorded on disk, by runtime id. Only reads. */
  async ended(): Promise<Map<string, ContainerExit>> {
    const entries = await Executor.list(this.#options.stateDir);
    return new Map(
      entries.flatMap(({ id, state, process }) =>
        state === "exited" && process !== null && !process.unknown ? [[id, exitOf(process)] as const] : [],
      ),
    );
  }

  #optionsOf(id: string) {
    return { stateDir: this.#options.stateDir, binary: this.binary, id, cgroup: this.#options.cgroupOf(id), moved: true };
  }
}

/**
 * The runtime gives standard output to the container's user, which it cannot do in a user namespace: a program that opens /dev/stdout anew would be refused. So whoever
 * can reach the pipe may write to it, which are the processes of the container.
 */
async function launchWithUsers(executor: Executor, command: LaunchCommand, options: LaunchOptions): Promise<ProcessState> {
  const { pid } = await executor.create(command, options);
  try {
    for (const stream of [1, 2]) openToWriters(`/proc/${pid}/fd/${stream}`);
    return await executor.start();
  } catch (error) {
    await endUnstarted(executor);
    throw error;
  }
}

/** @throws the error of stat(2) or chmod(2) */
function openToWriters(path: string): void {
  if (statSync(path).isFIFO()) chmodSync(path, 0o622);
}

async function endUnstarted(executor: Executor): Promise<void> {
  await executor.shutdown({ graceMs: 0 });
  executor.remove();
}

function onDiskOf({ state, process, lost }: ExecutorEntry): OnDisk | undefined {
  if (state === "unknown" || lost !== undefined) return { state: "lost", process };
  if (process === null) return undefined;
  if (state === "exited") return { state, process };
  return state === "running" || state === "paused" ? { state: "running", process } : undefined;
}

export function exitOf({ exitCode, signal, oomKilled, unknown, endedMs }: ProcessState): ContainerExit {
  return { code: exitCode, signal, oomKilled, unknown, endedWallMs: endedMs ?? Date.now() };
}
