/** The engine drives tasks to their desired state, and goes on after its own process was killed or restarted. */
import type { ExecHandle, SpawnRequest } from "../../executor/index.ts";
import type { GuestReport } from "../../shared/metrics/index.ts";
import type { RelayTarget } from "../health/index.ts";
import type { LogRecord } from "../logs/index.ts";
import type { TaskRecord } from "../model/index.ts";
import type { HostSupport } from "../plan/index.ts";
import { type JournalPage, Store } from "../store/index.ts";
import {
  type Attachment,
  type AttachOptions,
  type AttachRequest,
  attachOptions,
  attachTo,
  checkLog,
  containerOf,
  isRunning,
  runningContainer,
} from "./containers/attach.ts";
import type { OrphanView } from "./containers/orphans.ts";
import { type LogUseView, logUsesOf, type UsageView, usages } from "./containers/usage.ts";
import type { Applied, ApplyOptions, TaskDifference } from "./desired/apply.ts";
import { isUsable } from "./desired/codec.ts";
import type { Caller } from "./desired/journal.ts";
import { taskNamed } from "./desired/named.ts";
import type { Deleted, Restarted, Selected, Selection } from "./desired/selection.ts";
import { specsIn, type TaskFile } from "./desired/specs.ts";
import { type DetailOptions, detailOf, type TaskDetail } from "./detail.ts";
import { EngineError, unknownTask } from "./errors.ts";
import type { ImageCare } from "./image-care.ts";
import { type LogQuery, readContainerLog } from "./logs/logs.ts";
import { taskAt } from "./network/networks.ts";
import { type Forwarded, forwardTo, relayOf } from "./network/relays.ts";
import { type EngineParts, partsOf } from "./parts.ts";
import { takePlace } from "./place.ts";
import { differencesIn } from "./planning.ts";
import type { Pools } from "./pools/pools.ts";
import type { Interfaces } from "./resources/interfaces.ts";
import type { KeptVolumes } from "./resources/kept-volumes.ts";
import { restore } from "./restore.ts";
import type { ServiceRollouts } from "./service-rollouts.ts";
import { checkSettings, type EngineSettings, type NodeView } from "./settings.ts";
import { ledgerView, type TaskView, viewOf } from "./view.ts";
import type { WatchedFiles } from "./watched-files.ts";

const BACKUP_MS = 10 * 60_000;
const STORE_CHECK_MS = 5_000;

export class Engine {
  readonly #parts: EngineParts;
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * Opens the state directory, looks up what runs of its tasks, and continues to manage them.
   * @throws EngineError invalid-argument; StoreError in-use, moved, not-ours, newer-schema, unreadable; ExecutorError runtime-not-found, runtime-version
   */
  static async open(settings: EngineSettings): Promise<Engine> {
    checkSettings(settings);
    const store = new Store({ directory: settings.stateDir });
    try {
      const contents = await takePlace(store, store.load(isUsable), settings);
      const engine = new Engine(partsOf(settings, store, contents));
      const overcommitted = () => ledgerView([...engine.#parts.records.values()], engine.#parts.capacity).overcommitted;
      await restore({ ...engine.#parts, overcommitted });
      engine.#timers.push(setInterval(() => engine.#parts.turns.checkStore(), STORE_CHECK_MS).unref());
      engine.#timers.push(setInterval(() => void engine.#backUp(), BACKUP_MS).unref());
      for (const one of ["poll", "imageCare", "schedules", "rollouts", "pools"] as const) engine.#parts[one].start();
      return engine;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  private constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * Applies a task file, given as text (engine/spec), already parsed, or as objects. Applies either all of its tasks or none. Returns when the change is recorded,
   * before the tasks run. `by`, here and below: the caller, for the journal. @throws EngineError invalid-spec, invalid-argument, no-room; StoreError not-written
   */
  async apply(file: TaskFile, group: string, options: ApplyOptions = {}, by?: Caller): Promise<readonly Applied[]> {
    const specs = specsIn(file, this.#parts.support);
    return this.#parts.edits.make(by, (command) => command.apply(specs, group, options));
  }

  /** All tasks, by id. */
  list(): TaskView[] {
    return [...this.#parts.records.values()].map((record) => this.#viewOf(record)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Containers that exist on disk and that the store does not know. */
  async orphans(): Promise<readonly OrphanView[]> {
    const left = await this.#parts.orphans.look();
    if (left.length === 0) this.#parts.conditions.set("Orphans", "");
    return left;
  }

  /** Finds a task by id, by name within the group, or by an address of its network. @throws EngineError unknown-task */
  get(name: string, group: string): TaskView {
    return this.#viewOf(this.#find(name, group));
  }

  /** The spec of the task, and why it is in its state. @throws EngineError unknown-task */
  detail(name: string, group: string, options: DetailOptions): TaskDetail {
    const task = this.#find(name, group);
    return detailOf(task, options, (container) => this.#parts.endMessages.read(task, container));
  }

  /** The runtime id of a running container. `container` undefined: the only one of the task. @throws EngineError unknown-task, unknown-container, container-not-running */
  running(name: string, group: string, container: string | undefined): string {
    return runningContainer(this.#find(name, group), container).runtimeId;
  }

  /**
   * Starts a further process in a container.
   * @throws EngineError unknown-task, unknown-container, container-not-running; ExecutorError invalid-argument, user-unknown; ProgramError
   */
  async spawn(name: string, group: string, container: string | undefined, request: SpawnRequest): Promise<ExecHandle> {
    return this.#parts.runtime.spawn(this.running(name, group, container), request);
  }

  /**
   * Checks that `attach` is possible. Returns the container's runtime id, and what `attach` needs.
   * @throws EngineError unknown-task, unknown-container, container-not-running, no-log, no-stdin
   */
  attachable(name: string, group: string, container: string | undefined, options: AttachRequest): { readonly id: string } & AttachOptions {
    const id = this.running(name, group, container);
    const record = this.#find(name, group);
    return { id, ...attachOptions(record, container, options, this.#parts.paths.log(record.id, id)) };
  }

  /** Attaches to the streams of a running container. @throws as attachable; ExecutorError wrong-state: the container has just ended */
  async attach(name: string, group: string, container: string | undefined, options: AttachRequest): Promise<Attachment> {
    const { id, ...found } = this.attachable(name, group, container, options);
    return attachTo(await this.#parts.runtime.streams(id), found);
  }

  /**
   * The runtime id of the container from whose network `forward` connects. `container`
   * undefined: the first one that runs; containers of a task with a network share one namespace.
   * @throws EngineError unknown-task, unknown-container, container-not-running
   */
  forwardable(name: string, group: string, container: string | undefined): string {
    const { containers } = this.#find(name, group);
    const first = containers.find(({ type, known }) => type === "normal" && isRunning(known));
    return this.running(name, group, container ?? first?.name ?? containers.find(({ type }) => type === "normal")?.name);
  }

  /** Opens a TCP connection from inside the task's network. @throws as forwardable; as Executor.spawn; PauseNotFoundError */
  async forward(name: string, group: string, container: string | undefined, target: RelayTarget): Promise<Forwarded> {
    const id = this.forwardable(name, group, container);
    const record = this.#find(name, group);
    const start = await relayOf(record, id, { ...this.#parts, runtimes: this.support.runtimes });
    if (start === undefined) throw new EngineError("container-not-running", `the container ${id} has ended`, { task: record.name });
    return forwardTo(target, start);
  }

  /** Resource usage of each running container, of one group or of all. Containers that end during the call are left out. */
  async usage(group?: string): Promise<UsageView[]> {
    const tasks = [...this.#parts.records.values()].filter((record) => group === undefined || record.group === group);
    return usages(tasks, this.#parts.runtime);
  }

  /** What the kernels in the virtual machines of tasks count, with the labels of each task. Takes at most eight seconds. */
  async guestReports(): Promise<GuestReport[]> {
    return this.#parts.guests.read([...this.#parts.records.values()]);
  }

  /** Returns what `apply` would do, without doing it. @throws EngineError invalid-spec, invalid-argument, no-room */
  plan(file: TaskFile, group: string, options: ApplyOptions = {}): TaskDifference[] {
    return differencesIn(file, group, options, this.#parts);
  }

  /**
   * Reads what a container has printed, in batches of records. Errors of the query are thrown at once, not by the generator.
   * @throws EngineError unknown-task, unknown-container, no-log
   */
  logs(name: string, group: string, query: LogQuery): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const task = this.#find(name, group);
    const { id } = task;
    const view = () => {
      const record = this.#parts.records.get(id);
      return record && this.#viewOf(record);
    };
    const container = containerOf(view()!, query.container);
    checkLog(task, container.name);
    return readContainerLog(container, { task: view, onCommit: (listener) => this.onCommit(listener) }, query);
  }

  /** For each container that has a log: the lines and bytes that were logged and that were dropped. */
  logUses(): readonly LogUseView[] {
    return logUsesOf(this.list(), this.#parts.runtime);
  }

  /** Stops a task and removes all of it and of those that it has replaced, and forgets its success. Returns their ids. @throws EngineError unknown-task; StoreError not-written */
  async delete(name: string, group: string, by?: Caller): Promise<readonly string[]> {
    return this.#parts.edits.make(by, (command) => command.delete(name, group));
  }

  /**
   * Stops a task and keeps it for inspection. Returns its id. If the store cannot be written, the task is stopped at once and the request is recorded later; if the
   * daemon is killed before, the next one sees a task that stopped by itself. @throws EngineError unknown-task
   */
  async stop(name: string, group: string, by?: Caller): Promise<string> {
    return this.#parts.edits.make(by, (command) => command.stop(name, group), { isStop: true });
  }

  /**
   * Deletes several tasks in one transaction, so that they stop in the inverse order of their dependencies.
   * @param volumes also kept volumes, of these tasks and of a file, that no other task names. @throws EngineError unknown-task; StoreError not-written
   */
  async deleteAll(selection: Selection, group: string, by?: Caller, volumes = false): Promise<Deleted> {
    const deleted = await this.#parts.edits.make(by, (command) => command.deleteAll(selection, group, volumes));
    return volumes ? this.volumes.withLeft(deleted, selection === "all" ? [] : (selection.volumes ?? []), group) : deleted;
  }

  /** Stops several tasks, as `stop` does and in one transaction. @throws EngineError unknown-task */
  async stopAll(selection: Selection, group: string, by?: Caller): Promise<Selected> {
    return this.#parts.edits.make(by, (command) => command.stopAll(selection, group), { isStop: true });
  }

  /** Restarts all containers of several tasks, in one transaction. @throws EngineError unknown-task, not-running; StoreError not-written */
  async restartAll(selection: Selection, group: string, by?: Caller): Promise<Restarted> {
    return this.#parts.edits.make(by, (command) => command.restartAll(selection, group));
  }

  /**
   * Restarts the named containers, or all. Other containers of the task run on. Returns the id of the task.
   * @throws EngineError unknown-task, unknown-container, not-running; StoreError not-written
   */
  async restart(name: string, group: string, containers: readonly string[] = [], by?: Caller): Promise<string> {
    return this.#parts.edits.make(by, (command) => command.restart(name, group, containers));
  }

  /** Starts a task that has stopped, as it was. Returns the id of the task that is to run. @throws EngineError unknown-task, no-room; StoreError not-written */
  async start(name: string, group: string, by?: Caller): Promise<string> {
    return this.#parts.edits.make(by, (command) => command.start(name, group));
  }

  /**
   * Returns to the spec that ran before under this name. A replacement that has not taken over yet is removed; otherwise a new task with the old spec
   * takes its place. Returns the id of the task that is to run. @throws EngineError unknown-task, nothing-to-roll-back; StoreError not-written
   */
  async rollback(name: string, group: string, by?: Caller): Promise<string> {
    return this.#parts.edits.make(by, (command) => command.rollback(name, group));
  }

  /** The interfaces that others provide for tasks of this host. */
  get interfaces(): Interfaces {
    return this.#parts.interfaces;
  }

  /** The volumes that outlive tasks. */
  get volumes(): KeptVolumes {
    return this.#parts.keptVolumes;
  }

  /** The pools of prepared containers. */
  get pools(): Pools {
    return this.#parts.pools;
  }

  /** Services with replicas, and their rollouts. */
  get rollouts(): ServiceRollouts {
    return this.#parts.serviceRollouts;
  }

  /** Files that the daemon watches. */
  get watched(): WatchedFiles {
    return this.#parts.watched;
  }

  /** The images of this host. */
  get images(): ImageCare {
    return this.#parts.imageCare;
  }

  /** What tasks may ask for on this host. */
  get support(): HostSupport {
    return this.#parts.support;
  }

  /** Path of the runt executable. */
  get binary(): string {
    return this.#parts.runtime.binary;
  }

  get node(): NodeView {
    const records = [...this.#parts.records.values()];
    const { ledger, overcommitted } = ledgerView(records, this.#parts.capacity);
    const { bootId, epoch } = this.#parts.edits.facts;
    return {
      bootId,
      epoch,
      lastSequence: this.#parts.store.lastSequence,
      tasks: this.#parts.records.size,
      ledger,
      conditions: this.#parts.conditions.all(records, overcommitted),
    };
  }

  get lastSequence(): number {
    return this.#parts.store.lastSequence;
  }

  /** At most `limit` journal events that follow the sequence number `after`. */
  events(after: number, limit: number): JournalPage {
    return this.#parts.store.events(after, limit);
  }

  /** Calls `listener` after each transaction. Returns a function that unsubscribes it. */
  onCommit(listener: () => void): () => void {
    return this.#parts.turns.onCommit(listener);
  }

  /** Stops managing tasks. Containers run on, and another engine may open the directory. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const resource of this.#parts.resources) resource.stop?.();
    const { networkWatch, volumeWatch, forwarding, agents, poll, imageCare, ...parts } = this.#parts;
    for (const one of [networkWatch, volumeWatch, forwarding, agents, poll, imageCare]) one.stop();
    for (const one of [parts.schedules, parts.rollouts, parts.autoUpdate, parts.pools, parts.turns]) one.stop();
    this.#parts.runtime.close();
    this.#parts.fence?.leave();
    this.#parts.store.close();
  }

  #viewOf(record: TaskRecord, { paths, records, pulling, names } = this.#parts): TaskView {
    return { ...viewOf(record, paths, records.values(), (id) => pulling.progressOf(id)), drain: names.drainOf(record.id) };
  }

  #find(name: string, group: string): TaskRecord {
    const records = [...this.#parts.records.values()];
    const found = taskNamed(records, name, group) ?? taskAt(records, name);
    if (found === undefined) throw unknownTask(name, group, records);
    return found;
  }

  async #backUp(): Promise<void> {
    try {
      await this.#parts.store.backUp();
    } catch (error) {
      this.#parts.log("error", "not-backed-up", { message: String(error) });
    }
  }
}
