/** The engine: tasks driven to what is wanted of them, whatever happens to the process it runs in. */
import { type ExecHandle, Fence, type LogUse, type SpawnRequest } from "../../executor/index.ts";
import { ImageStore } from "../images/index.ts";
import type { LogRecord } from "../logs/index.ts";
import { DEFAULT_OPTIONS, DEFAULT_QUEUE, type HostCapacity, type TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import type { ParsedFile } from "../spec/index.ts";
import { type JournalPage, Store } from "../store/index.ts";
import type { Applied, ApplyOptions } from "./apply.ts";
import { type Attachment, type AttachRequest, attachTo, checkStdin } from "./attach.ts";
import { capacityOf } from "./capacity.ts";
import { Cards } from "./cards.ts";
import { CarryingOut } from "./carrying-out.ts";
import { bootId, systemClock } from "./clock.ts";
import { hostFactsIn, succeededIn, tasksIn } from "./codec.ts";
import { taskNamed } from "./commands.ts";
import { Conditions } from "./conditions.ts";
import { containerOf } from "./container-of.ts";
import { type DetailOptions, detailOf, type TaskDetail } from "./detail.ts";
import { differenceOf, type TaskDifference } from "./difference.ts";
import { Edits } from "./edits.ts";
import { Effects } from "./effects.ts";
import { EngineError, unknownTask } from "./errors.ts";
import { postExit } from "./exits.ts";
import type { Caller } from "./journal.ts";
import { Launching } from "./launching.ts";
import type { EngineLog } from "./log.ts";
import { type LogQuery, readContainerLog } from "./logs.ts";
import { MetadataFiles } from "./metadata.ts";
import { NetworkNames } from "./network-names.ts";
import { NetworkWatch } from "./network-watch.ts";
import { networksOf, stateKey, taskAt } from "./networks.ts";
import { type OrphanPolicy, Orphans, type OrphanView } from "./orphans.ts";
import { Paths } from "./paths.ts";
import { Poll } from "./poll.ts";
import { Pulling } from "./pulling.ts";
import { restore } from "./restore.ts";
import { ContainerRuntime } from "./runtime.ts";
import type { EngineSettings, NodeView } from "./settings.ts";
import { specsIn } from "./specs.ts";
import { Turns } from "./turn.ts";
import { type UsageView, usages } from "./usage.ts";
import { ledgerView, type TaskView, viewOf } from "./view.ts";

const LAUNCH_TIMEOUT_MS = 120_000;
const BACKUP_MS = 10 * 60_000;
const POLL_MS = 2 * 60_000;

export class Engine {
  readonly #store: Store;
  readonly #turns: Turns;
  readonly #runtime: ContainerRuntime;
  readonly #effects: Effects;
  readonly #paths: Paths;
  readonly #networks: TaskNetworks;
  readonly #watch: NetworkWatch;
  readonly #log: EngineLog;
  readonly #conditions: Conditions;
  readonly #edits: Edits;
  readonly #images: ImageStore;
  readonly #pulling: Pulling;
  readonly #capacity: HostCapacity;
  readonly #hasTaskLimits: boolean;
  readonly #cards: Cards;
  readonly #orphans: Orphans;
  readonly #orphanPolicy: OrphanPolicy;
  readonly #poll: Poll;
  readonly #metadata: MetadataFiles;
  #backups: NodeJS.Timeout | undefined;
  readonly #fence: Fence | undefined;

  /**
   * Open the state directory, look at what is there of its tasks, and go on with them.
   * @throws StoreError in-use, not-ours, newer-schema, unreadable; ExecutorError runtime-not-found, runtime-version
   */
  static async open(settings: EngineSettings): Promise<Engine> {
    const store = new Store({ directory: settings.stateDir });
    try {
      const fence = settings.isOwnProcess ? fenceOf(settings) : undefined;
      const engine = new Engine(settings, store, fence);
      await restore({
        turns: engine.#turns,
        runtime: engine.#runtime,
        fence,
        metadata: engine.#metadata,
        edits: engine.#edits,
        cards: engine.#cards,
        orphans: engine.#orphans,
        orphanPolicy: engine.#orphanPolicy,
        networks: engine.#networks,
        images: engine.#images,
        pulling: engine.#pulling,
        overcommitted: () => engine.#overcommitted,
        conditions: engine.#conditions,
        log: engine.#log,
      });
      engine.#backups = setInterval(() => engine.#backUp(), BACKUP_MS).unref();
      engine.#poll.start();
      return engine;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  private constructor(settings: EngineSettings, store: Store, fence: Fence | undefined) {
    const {
      stateDir,
      cgroupParent,
      taskLimits = true,
      runtime,
      launchTimeoutMs = LAUNCH_TIMEOUT_MS,
      options,
      capacity,
      queue,
      orphans = "show",
      pollMs = POLL_MS,
      probe,
      images = {},
      log = () => {},
    } = settings;
    this.#orphanPolicy = orphans;
    this.#hasTaskLimits = taskLimits;
    this.#fence = fence;
    this.#log = log;
    this.#conditions = new Conditions(log);
    this.#store = store;
    this.#paths = new Paths(stateDir);
    this.#cards = new Cards(this.#paths);
    this.#runtime = new ContainerRuntime(
      { stateDir: this.#paths.executors, binary: runtime, launchTimeoutMs, fence },
      {
        onExit: (id, process) => void postExit(this.#turns, this.#runtime, id, process),
        onLost: (id, error) => log("error", "container-unreadable", { id, message: String(error) }),
      },
    );
    this.#orphans = new Orphans(this.#runtime, log);
    this.#networks = networksOf(settings);
    this.#metadata = new MetadataFiles(this.#paths, log);
    const { pullPolicy = "default", ...ofImages } = images;
    this.#images = new ImageStore({ directory: this.#paths.images, ...ofImages });
    const common = { paths: this.#paths, images: this.#images, metadata: this.#metadata, networks: this.#networks, cgroupParent };
    const launching = new Launching({ ...common, binary: this.#runtime.binary });
    this.#pulling = new Pulling({ images: this.#images, launching, policy: pullPolicy });
    this.#effects = new Effects({ ...common, runtime: this.#runtime, launching, pulling: this.#pulling, cards: this.#cards });
    const carryingOut = new CarryingOut({ turns: () => this.#turns, effects: this.#effects, runtime: this.#runtime, log, probe });
    this.#poll = new Poll({ everyMs: pollMs, runtime: this.#runtime, turns: () => this.#turns, log });
    const { records, damaged } = store.load();
    this.#conditions.set("RecordsDamaged", damaged.map(({ kind, key }) => `${kind} ${key}`).join(", "));
    this.#capacity = capacityOf(capacity);
    this.#turns = new Turns(
      {
        store,
        clock: systemClock,
        options: { ...DEFAULT_OPTIONS, ...options },
        capacity: this.#capacity,
        queue: { ...DEFAULT_QUEUE, ...queue },
        facts: () => this.#edits.facts,
        carryOut: (order) => carryingOut.begin(order),
        onStore: (error) => {
          this.#conditions.store(error);
          if (error === undefined) store.keepReserve();
        },
        probe,
      },
      tasksIn(records, store.path),
      succeededIn(records),
    );
    const names = new NetworkNames(this.#networks, log);
    this.#turns.onCommit(() => names.refresh([...this.#turns.records.values()]));
    this.#watch = new NetworkWatch({
      networks: this.#networks,
      conditions: this.#conditions,
      records: () => this.#turns.records,
      intervalMs: settings.networkCheckMs,
    });
    const { epoch = 0, revision = 0 } = hostFactsIn(records) ?? {};
    const facts = { epoch: epoch + 1, bootId: bootId(), revision };
    this.#edits = new Edits(this.#turns, { capacity: this.#capacity, cgroupParent, hasTaskLimits: taskLimits }, facts);
  }

  /**
   * Tasks of a file: its text (engine/spec), or what was read from it. All of them or none; returns when that is recorded, not when they run.
   * `by`, here and below: recorded in the journal. @throws EngineError invalid-spec, no-room; StoreError not-written
   */
  async apply(file: string | ParsedFile, group: string, options: ApplyOptions = {}, by?: Caller): Promise<readonly Applied[]> {
    const tasks = specsIn(file, { hasTaskLimits: this.#hasTaskLimits });
    return this.#edits.make(by, (command) => command.apply(tasks, group, options));
  }

  /** Every task, by id. */
  list(): TaskView[] {
    return [...this.#turns.records.values()].map((record) => viewOf(record, this.#paths)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Containers that are on disk and that the store does not know. */
  async orphans(): Promise<readonly OrphanView[]> {
    const left = await this.#orphans.look();
    if (left.length === 0) this.#conditions.set("Orphans", "");
    return left;
  }

  /** By id, by name in a group, or by an address of its own network. @throws EngineError unknown-task */
  get(name: string, group: string): TaskView {
    return viewOf(this.#find(name, group), this.#paths);
  }

  /** What was asked for, and why it is as it is. @throws EngineError unknown-task */
  detail(name: string, group: string, options: DetailOptions): TaskDetail {
    return detailOf(this.#find(name, group), options);
  }

  /**
   * Id in the runtime of a container that runs; `container` undefined: the only one of its task.
   * @throws EngineError unknown-task, unknown-container, container-not-running
   */
  running(name: string, group: string, container: string | undefined): string {
    const task = this.#find(name, group);
    const found = containerOf(task, container);
    if (found.known !== "RUNNING" && found.known !== "RESOURCES_PROVISIONED")
      throw new EngineError("container-not-running", `container ${found.name} of task ${task.name} is ${found.known}`, {
        task: task.name,
        known: found.known,
      });
    return found.runtimeId;
  }

  /**
   * Start a further process in a container.
   * @throws EngineError unknown-task, unknown-container, container-not-running; ExecutorError invalid-argument, user-unknown; ProgramError
   */
  async spawn(name: string, group: string, container: string | undefined, request: SpawnRequest): Promise<ExecHandle> {
    return this.#runtime.spawn(this.running(name, group, container), request);
  }

  /**
   * That `attach` can begin. Returns the container's id and the path of its log.
   * @throws EngineError unknown-task, unknown-container, container-not-running, no-stdin
   */
  attachable(
    name: string,
    group: string,
    container: string | undefined,
    options: AttachRequest,
  ): { readonly id: string; readonly log: string } {
    const id = this.running(name, group, container);
    const record = this.#find(name, group);
    checkStdin(record, containerOf(record, container).name, options);
    return { id, log: this.#paths.log(record.id, id) };
  }

  /** The streams of a container that runs. @throws as attachable; ExecutorError wrong-state: it has ended meanwhile */
  async attach(name: string, group: string, container: string | undefined, options: AttachRequest): Promise<Attachment> {
    const { id, log } = this.attachable(name, group, container, options);
    return attachTo(await this.#runtime.streams(id), { log, hasStdin: options.stdin });
  }

  /** What each container that runs uses; of one group, or of all. One that ends meanwhile is left out. */
  async usage(group?: string): Promise<UsageView[]> {
    const tasks = [...this.#turns.records.values()].filter((record) => group === undefined || record.group === group);
    return usages(tasks, this.#runtime);
  }

  /** What `apply` would do; nothing is done. @throws EngineError invalid-spec, no-room */
  plan(file: string | ParsedFile, group: string, options: ApplyOptions = {}): TaskDifference[] {
    const present = {
      tasks: [...this.#turns.records.values()],
      succeeded: [...this.#turns.succeeded.values()],
      capacity: this.#capacity,
      revision: this.#edits.facts.revision,
      at: systemClock.now(),
      cgroupOf: () => null,
    };
    return differenceOf(specsIn(file, { hasTaskLimits: this.#hasTaskLimits }), group, present, options);
  }

  /**
   * What a container has printed, some records at a time. What is wrong with the query is thrown at once.
   * @throws EngineError unknown-task, unknown-container
   */
  logs(name: string, group: string, query: LogQuery): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { id } = this.#find(name, group);
    const view = () => {
      const record = this.#turns.records.get(id);
      return record && viewOf(record, this.#paths);
    };
    const container = containerOf(view()!, query.container);
    return readContainerLog(container, { task: view, onCommit: (listener) => this.onCommit(listener) }, query);
  }

  /** Of each container that is there: what went into its log, and what was dropped. */
  logUses(): readonly { readonly task: string; readonly container: string; readonly use: LogUse }[] {
    return this.list().flatMap(({ name, containers }) =>
      containers.flatMap((container) => {
        const use = this.#runtime.logUse(container.id);
        return use === undefined ? [] : [{ task: name, container: container.name, use }];
      }),
    );
  }

  /**
   * Stop it, and remove everything of it and of those whose place it has taken; what has succeeded under this name is forgotten. Returns the ids of what is
   * being removed, when that is recorded. @throws EngineError unknown-task; StoreError not-written
   */
  async delete(name: string, group: string, by?: Caller): Promise<readonly string[]> {
    return this.#edits.make(by, (command) => command.delete(name, group));
  }

  /**
   * Stop it, and leave it to be looked at. Returns its id. While the store cannot be written it is stopped at once, and that is recorded when it can be; a daemon that is
   * killed before finds it stopped without having been asked. @throws EngineError unknown-task
   */
  async stop(name: string, group: string, by?: Caller): Promise<string> {
    return this.#edits.make(by, (command) => command.stop(name, group), { isStop: true });
  }

  /**
   * A new incarnation of these containers, or of all; the others run on. Returns the id of the task.
   * @throws EngineError unknown-task, unknown-container, not-running; StoreError not-written
   */
  async restart(name: string, group: string, containers: readonly string[] = [], by?: Caller): Promise<string> {
    return this.#edits.make(by, (command) => command.restart(name, group, containers));
  }

  /**
   * Back to what ran before under this name. A replacement that has not taken over yet is removed; else a task of the old spec takes its place. Returns the
   * id of the task that is to run. @throws EngineError unknown-task, nothing-to-roll-back; StoreError not-written
   */
  async rollback(name: string, group: string, by?: Caller): Promise<string> {
    return this.#edits.make(by, (command) => command.rollback(name, group));
  }

  /** Path of the program runt. */
  get binary(): string {
    return this.#runtime.binary;
  }

  get #overcommitted(): string {
    return ledgerView([...this.#turns.records.values()], this.#capacity).overcommitted;
  }

  get node(): NodeView {
    const { ledger, overcommitted } = ledgerView([...this.#turns.records.values()], this.#capacity);
    const further = overcommitted === "" ? [] : [{ type: "Overcommitted", message: overcommitted } as const];
    const { bootId, epoch } = this.#edits.facts;
    return {
      bootId,
      epoch,
      lastSequence: this.#store.lastSequence,
      tasks: this.#turns.records.size,
      ledger,
      conditions: [...this.#conditions.all(), ...further],
    };
  }

  get lastSequence(): number {
    return this.#store.lastSequence;
  }

  /** At most `limit` events of the journal after a sequence number. */
  events(after: number, limit: number): JournalPage {
    return this.#store.events(after, limit);
  }

  /** Called after each transaction. Returns how to stop that. */
  onCommit(listener: () => void): () => void {
    return this.#turns.onCommit(listener);
  }

  /** Containers go on; another engine may open the directory. */
  close(): void {
    clearInterval(this.#backups);
    this.#watch.stop();
    this.#poll.stop();
    this.#metadata.stop();
    this.#turns.stop();
    this.#fence?.leave();
    this.#store.close();
  }

  #find(name: string, group: string): TaskRecord {
    const records = [...this.#turns.records.values()];
    const found = taskNamed(records, name, group) ?? taskAt(records, name);
    if (found === undefined) throw unknownTask(name, group);
    return found;
  }

  #backUp(): void {
    try {
      this.#store.backUp();
    } catch (error) {
      this.#log("error", "not-backed-up", { message: String(error) });
    }
  }
}

function fenceOf({ stateDir, cgroupParent }: EngineSettings): Fence {
  return new Fence({ cgroupParent, key: stateKey(stateDir), stateDir: new Paths(stateDir).executors });
}
