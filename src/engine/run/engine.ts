/** The engine: tasks driven to what is wanted of them, whatever happens to the process it runs in. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type ExecHandle, Fence, type LogUse, type ProcessState, type SpawnRequest } from "../../executor/index.ts";
import type { LogRecord } from "../logs/index.ts";
import { DEFAULT_OPTIONS, DEFAULT_QUEUE, type HostCapacity, type TaskRecord } from "../model/index.ts";
import { refusedByHost } from "../plan/index.ts";
import { type Finding, parseTasks, type TaskSpec } from "../spec/index.ts";
import { type JournalPage, Store, type StoreError } from "../store/index.ts";
import type { Applied, ApplyOptions } from "./apply.ts";
import { capacityOf } from "./capacity.ts";
import { bootId, systemClock } from "./clock.ts";
import { type HostFacts, hostFactsIn, succeededIn, tasksIn } from "./codec.ts";
import { Commands, taskNamed } from "./commands.ts";
import { containerOf } from "./container-of.ts";
import { type DetailOptions, detailOf, type TaskDetail } from "./detail.ts";
import { differenceOf, type TaskDifference } from "./difference.ts";
import type { Order } from "./draft.ts";
import { Effects } from "./effects.ts";
import { EngineError, invalidSpec, unknownTask } from "./errors.ts";
import { Forgetting } from "./forgetting.ts";
import type { Caller } from "./journal.ts";
import { Launching } from "./launching.ts";
import { Limit } from "./limit.ts";
import type { EngineLog } from "./log.ts";
import { type LogQuery, readContainerLog } from "./logs.ts";
import { Paths } from "./paths.ts";
import { recover } from "./recovery.ts";
import { ContainerRuntime, exitOf } from "./runtime.ts";
import type { EngineSettings, NodeView } from "./settings.ts";
import { Turns } from "./turn.ts";
import { type UsageView, usageOf } from "./usage.ts";
import { ledgerView, type TaskView, viewOf } from "./view.ts";

/** Starting a container is work for several processes. */
const STARTS_AT_ONCE = 8;
const LAUNCH_TIMEOUT_MS = 120_000;
const LOOKS_AT_ONCE = 16;
const BACKUP_MS = 10 * 60_000;

type Condition = NodeView["conditions"][number];

export class Engine {
  readonly #store: Store;
  readonly #turns: Turns;
  readonly #runtime: ContainerRuntime;
  readonly #effects: Effects;
  readonly #paths: Paths;
  readonly #log: EngineLog;
  readonly #starts = new Limit(STARTS_AT_ONCE);
  readonly #conditions = new Map<Condition["type"], string>();
  readonly #forgetting: Forgetting;
  readonly #capacity: HostCapacity;
  readonly #cgroupParent: string;
  readonly #hasTaskLimits: boolean;
  #backups: NodeJS.Timeout | undefined;
  readonly #fence: Fence | undefined;
  #facts: HostFacts;

  /**
   * Open the state directory, look at what is there of its tasks, and go on with them.
   * @throws StoreError in-use, not-ours, newer-schema, unreadable; ExecutorError runtime-not-found, runtime-version
   */
  static async open(settings: EngineSettings): Promise<Engine> {
    const store = new Store({ directory: settings.stateDir });
    try {
      const fence = settings.isOwnProcess ? fenceOf(settings) : undefined;
      const ended = await fence?.clear();
      const engine = new Engine(settings, store, fence);
      if (ended) engine.#log("info", "fenced", { ended });
      fence?.enter(String(engine.#facts.epoch));
      await engine.#recover();
      engine.#backups = setInterval(() => engine.#backUp(), BACKUP_MS).unref();
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
      log = () => {},
    } = settings;
    this.#cgroupParent = cgroupParent;
    this.#hasTaskLimits = taskLimits;
    this.#fence = fence;
    this.#log = log;
    this.#store = store;
    this.#paths = new Paths(stateDir);
    this.#runtime = new ContainerRuntime(
      { stateDir: this.#paths.executors, binary: runtime, launchTimeoutMs, fence },
      {
        onExit: (id, process) => void this.#exited(id, process),
        onLost: (id, error) => log("error", "container-unreadable", { id, message: String(error) }),
      },
    );
    const launching = new Launching({ paths: this.#paths, cgroupParent, binary: this.#runtime.binary });
    this.#effects = new Effects({ paths: this.#paths, runtime: this.#runtime, launching, cgroupParent });
    this.#forgetting = new Forgetting(() => this.#turns, this.#effects, log);
    const { records, damaged } = store.load();
    if (damaged.length > 0) this.#conditions.set("RecordsDamaged", damaged.map(({ kind, key }) => `${kind} ${key}`).join(", "));
    const tasks = tasksIn(records);
    const { epoch = 0, revision = 0 } = hostFactsIn(records) ?? {};
    this.#facts = { epoch: epoch + 1, bootId: bootId(), revision };
    this.#capacity = capacityOf(capacity);
    this.#turns = new Turns(
      {
        store,
        clock: systemClock,
        options: { ...DEFAULT_OPTIONS, ...options },
        capacity: this.#capacity,
        queue: { ...DEFAULT_QUEUE, ...queue },
        carryOut: (order) => this.#carryOut(order),
        onStore: (error) => this.#storeCondition(error),
      },
      tasks,
      succeededIn(records),
    );
  }

  async #recover(): Promise<void> {
    const found = await recover([...this.#turns.records.values()], this.#runtime, systemClock.now());
    for (const { id, error } of found.failures) this.#log("error", "not-looked-up", { id, message: String(error) });
    if (found.failures.length > 0) this.#conditions.set("NotLookedUp", found.failures.map(({ id }) => id).join(", "));
    if (found.orphans.length > 0) this.#conditions.set("Orphans", found.orphans.join(", "));
    for (const [task, happening] of found.happenings) this.#turns.post(task, happening);
    const opened = this.#turns.edit(() => this.#facts);
    this.#turns.release();
    await opened;
    for (const id of found.running) this.#runtime.follow(id);
    this.#log("info", "restore-complete", { epoch: this.#facts.epoch, tasks: this.#turns.records.size, running: found.running.length });
  }

  /**
   * Tasks of a file (engine/spec). All of them or none; returns when that is recorded, not when they run.
   * `by`, here and below: recorded in the journal. @throws EngineError invalid-spec, no-room; StoreError not-written
   */
  async apply(text: string, group: string, options: ApplyOptions = {}, by?: Caller): Promise<readonly Applied[]> {
    const tasks = this.#specsIn(text);
    return this.#edit(by, (command) => command.apply(tasks, group, options));
  }

  /** Every task, by id. */
  list(): TaskView[] {
    return [...this.#turns.records.values()].map((record) => viewOf(record, this.#paths)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** By id, or by name in a group. @throws EngineError unknown-task */
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

  /** What each container that runs uses; of one group, or of all. One that ends meanwhile is left out. */
  async usage(group?: string): Promise<UsageView[]> {
    const running = [...this.#turns.records.values()]
      .filter((record) => group === undefined || record.group === group)
      .flatMap((record) => record.containers.filter(({ known }) => known === "RUNNING").map((container) => ({ record, container })));
    const limit = new Limit(LOOKS_AT_ONCE);
    const read = ({ record, container }: (typeof running)[number]) =>
      limit.run(async () => usageOf(record, container.name, await this.#runtime.stats(container.runtimeId)));
    return (await Promise.allSettled(running.map(read))).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  /** What `apply` would do; nothing is done. @throws EngineError invalid-spec, no-room */
  plan(text: string, group: string, options: ApplyOptions = {}): TaskDifference[] {
    const present = {
      tasks: [...this.#turns.records.values()],
      succeeded: [...this.#turns.succeeded.values()],
      capacity: this.#capacity,
      revision: this.#facts.revision,
      at: systemClock.now(),
      cgroupOf: () => null,
    };
    return differenceOf(this.#specsIn(text), group, present, options);
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
    return this.#edit(by, (command) => command.delete(name, group));
  }

  /** Stop it, and leave it to be looked at. Returns its id. @throws EngineError unknown-task; StoreError not-written */
  async stop(name: string, group: string, by?: Caller): Promise<string> {
    return this.#edit(by, (command) => command.stop(name, group));
  }

  /**
   * A new incarnation of these containers, or of all; the others run on. Returns the id of the task.
   * @throws EngineError unknown-task, unknown-container, not-running; StoreError not-written
   */
  async restart(name: string, group: string, containers: readonly string[] = [], by?: Caller): Promise<string> {
    return this.#edit(by, (command) => command.restart(name, group, containers));
  }

  /**
   * Back to what ran before under this name. A replacement that has not taken over yet is removed; else a task of the old spec takes its place. Returns the
   * id of the task that is to run. @throws EngineError unknown-task, nothing-to-roll-back; StoreError not-written
   */
  async rollback(name: string, group: string, by?: Caller): Promise<string> {
    return this.#edit(by, (command) => command.rollback(name, group));
  }

  get node(): NodeView {
    const { ledger, overcommitted } = ledgerView([...this.#turns.records.values()], this.#capacity);
    const conditions = [...this.#conditions, ...(overcommitted === "" ? [] : [["Overcommitted", overcommitted] as const])];
    return {
      bootId: this.#facts.bootId,
      epoch: this.#facts.epoch,
      lastSequence: this.#store.lastSequence,
      tasks: this.#turns.records.size,
      ledger,
      conditions: conditions.map(([type, message]) => ({ type, message })),
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
    this.#turns.stop();
    this.#fence?.leave();
    this.#store.close();
  }

  #cgroupOf(id: string): string | null {
    return this.#hasTaskLimits ? join(this.#cgroupParent, `${id}-${randomBytes(6).toString("hex")}`) : null;
  }

  #find(name: string, group: string): TaskRecord {
    const found = taskNamed([...this.#turns.records.values()], name, group);
    if (found === undefined) throw unknownTask(name, group);
    return found;
  }

  /** @throws EngineError invalid-spec */
  #specsIn(text: string): readonly TaskSpec[] {
    const { tasks, findings } = parseTasks(text);
    const refused = tasks.flatMap((task, document) =>
      refusedByHost(task, { hasTaskLimits: this.#hasTaskLimits }).map(
        (one): Finding => ({ code: "shape", document, line: 1, column: 1, ...one, message: `${task.name}: ${one.message}` }),
      ),
    );
    if (findings.length + refused.length > 0) throw invalidSpec([...findings, ...refused]);
    return tasks;
  }

  async #edit<T>(by: Caller | undefined, change: (commands: Commands) => T): Promise<T> {
    let answer: T;
    await this.#turns.edit((draft) => {
      const commands = new Commands(draft, { capacity: this.#capacity, cgroupOf: (id) => this.#cgroupOf(id), by }, this.#facts.revision);
      answer = change(commands);
      if (commands.revision === this.#facts.revision) return undefined;
      // A revision that was given out is gone, also when the transaction fails.
      this.#facts = { ...this.#facts, revision: commands.revision };
      return this.#facts;
    });
    return answer!;
  }

  #carryOut({ record, action }: Order): void {
    if (action.type === "forget") {
      this.#forgetting.begin(record);
      return;
    }
    const perform = () => this.#effects.perform(action, record);
    const result = action.type === "start" || action.type === "remove" ? this.#starts.run(perform) : perform();
    void result.then((happening) => {
      this.#turns.post(record.id, happening);
      if (happening.type === "preStopped" && happening.error !== undefined) {
        this.#log("error", "pre-stop-failed", { task: record.id, container: happening.container, message: happening.error });
      }
      if (action.type === "start" && happening.type === "result" && happening.error === undefined) this.#runtime.follow(action.runtimeId);
    });
  }

  /** The process that holds the namespaces comes first: its end is why the others have ended. */
  async #exited(id: string, process: ProcessState): Promise<void> {
    const task = [...this.#turns.records.values()].find(({ containers }) => containers.some(({ runtimeId }) => runtimeId === id));
    const holder = task?.containers.find(({ type, known }) => type === "namespacePause" && known === "RUNNING");
    if (holder !== undefined && holder.runtimeId !== id) {
      const end = await this.#runtime.endIfEnding(holder.runtimeId).catch(() => undefined);
      if (end !== undefined) this.#postTo(holder.runtimeId, { state: "exited", exit: exitOf(end) });
    }
    this.#postTo(id, { state: "exited", exit: exitOf(process) });
  }

  #postTo(runtimeId: string, observation: { readonly state: "exited"; readonly exit: ReturnType<typeof exitOf> }): void {
    for (const record of this.#turns.records.values()) {
      const container = record.containers.find((one) => one.runtimeId === runtimeId);
      if (container === undefined) continue;
      this.#turns.post(record.id, { type: "observed", container: container.name, generation: container.generation, observation });
    }
  }

  #backUp(): void {
    try {
      this.#store.backUp();
    } catch (error) {
      this.#log("error", "not-backed-up", { message: String(error) });
    }
  }

  #storeCondition(error: StoreError | undefined): void {
    if (error === undefined) this.#conditions.delete("StoreReadOnly");
    else this.#conditions.set("StoreReadOnly", error.message);
    this.#log(
      error === undefined ? "info" : "error",
      error === undefined ? "store-writable" : "store-read-only",
      error && { message: error.message },
    );
  }
}

function fenceOf({ stateDir, cgroupParent }: EngineSettings): Fence {
  const { dev, ino } = statSync(stateDir, { bigint: true });
  return new Fence({ cgroupParent, key: `${dev}-${ino}`, stateDir: new Paths(stateDir).executors });
}
