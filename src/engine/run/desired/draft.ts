/** The changes of one turn: copies of records that shadow the stored ones until the transaction is committed. */
import {
  type Action,
  absorb,
  type DecisionContext,
  type EngineOptions,
  type HostCapacity,
  hasSucceeded,
  type Instant,
  type PoolRecord,
  proxyEvent,
  type QueuePolicy,
  type Reconciled,
  type RevisionRecord,
  reason,
  reconcile,
  type ScheduleDecision,
  type ServiceRecord,
  schedule,
  scheduledAfter,
  sharesProxy,
  type TaskEvent,
  type TaskRecord,
  works,
} from "../../model/index.ts";
import { isRemembered } from "./apply.ts";
import { type HostFacts, type Succeeded, succeededKey } from "./codec.ts";
import { Groups } from "./groups.ts";
import {
  type Caller,
  type ChangeRequest,
  type EngineEvent,
  type InterfaceEvent,
  ofTask,
  type PacketFilterEvent,
  type PoolEvent,
  type RolloutEvent,
  type TaskJournalEvent,
  type WatchEvent,
} from "./journal.ts";
import { Overlay } from "./overlay.ts";

export interface Order {
  readonly record: TaskRecord;
  readonly action: Action;
}

/** The records of the store. */
export interface Stored {
  readonly host: { readonly facts: HostFacts };
  readonly records: ReadonlyMap<string, TaskRecord>;
  /** By succeededKey. */
  readonly succeeded: ReadonlyMap<string, Succeeded>;
  /** By serviceKey. */
  readonly services: ReadonlyMap<string, ServiceRecord>;
  /** By revisionKey. */
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
  /** By id. */
  readonly pools: ReadonlyMap<string, PoolRecord>;
}

type Untimed<Event> = Event extends unknown ? Omit<Event, "wallMs"> : never;

export class Draft {
  readonly at: Instant;
  readonly services: Overlay<ServiceRecord>;
  readonly revisions: Overlay<RevisionRecord>;
  readonly pools: Overlay<PoolRecord>;
  readonly #stored: Stored;
  readonly #options: EngineOptions;
  readonly #tasks: Overlay<TaskRecord>;
  readonly #succeeded: Overlay<Succeeded>;
  readonly #orders: Order[] = [];
  readonly #events: TaskJournalEvent[] = [];
  readonly #others: EngineEvent[] = [];
  #facts: HostFacts | undefined;
  #groups: Groups;

  constructor(stored: Stored, options: EngineOptions, at: Instant) {
    this.#stored = stored;
    this.#options = options;
    this.at = at;
    this.#tasks = new Overlay(stored.records);
    this.#succeeded = new Overlay(stored.succeeded);
    this.services = new Overlay(stored.services);
    this.revisions = new Overlay(stored.revisions);
    this.pools = new Overlay(stored.pools);
    this.#groups = new Groups(stored.records.values());
  }

  /** Makes the changes of `change`: all of them, or none if it throws. @throws what `change` throws */
  attempt(change: () => void): void {
    const lists = [this.#orders, this.#events, this.#others].map((list) => ({ list, length: list.length }));
    const undo = [this.#tasks, this.#succeeded, this.services, this.revisions, this.pools].map((one) => one.savepoint());
    const [facts, { size }] = [this.#facts, this.touched];
    try {
      change();
    } catch (error) {
      const mayHaveAdded = this.touched.size > size;
      for (const takeBack of undo) takeBack();
      for (const { list, length } of lists) list.length = length;
      this.#facts = facts;
      if (mayHaveAdded) this.#groups = new Groups(this.all());
      throw error;
    }
  }

  get(id: string): TaskRecord | undefined {
    return this.#tasks.get(id);
  }

  all(): TaskRecord[] {
    return this.#tasks.values();
  }

  /** One-shots that have succeeded, by succeededKey. */
  succeeded(): Map<string, Succeeded> {
    return new Map(this.#succeeded.values().map((one) => [succeededKey(one), one]));
  }

  get facts(): HostFacts {
    return this.#facts ?? this.#stored.host.facts;
  }

  /** What is set is stored, even if it is the same as before. */
  set facts(facts: HostFacts) {
    this.#facts = facts;
  }

  /** The facts of the host that the turn stores; undefined: none were set. */
  get newFacts(): HostFacts | undefined {
    return this.#facts;
  }

  /** Adds a task. A success that was recorded under its name no longer counts. */
  add(record: TaskRecord): void {
    this.#tasks.set(record.id, record);
    this.#groups.add(record);
    this.forget(record);
    this.#events.push({ type: "added", digest: record.digest, ...ofTask(record, this.at.wallMs) });
  }

  /** Adds a request to the journal. `by` undefined: the engine itself made it, so that it is not recorded. */
  note(id: string, request: ChangeRequest, by: Caller | undefined): void {
    const record = this.get(id);
    if (record !== undefined && by !== undefined) this.#events.push({ type: "request", request, by, ...ofTask(record, this.at.wallMs) });
  }

  /** Adds an event of the host, of a service, of a pool or of a watched file. */
  tell(event: Untimed<InterfaceEvent | PacketFilterEvent | PoolEvent | RolloutEvent | WatchEvent>): void {
    this.#others.push({ ...event, wallMs: this.at.wallMs });
  }

  /** The task comes from another file or project from now on. */
  adopt(id: string, from: string): void {
    const record = this.get(id);
    if (record !== undefined) this.#tasks.set(id, { ...record, from });
  }

  /** A time of its schedule is decided on. */
  decided(id: string, { atMs, state }: NonNullable<ScheduleDecision["due"]>): void {
    const record = this.get(id);
    if (record === undefined) return;
    this.#tasks.set(id, { ...record, scheduled: scheduledAfter(record, { atMs, state }) });
    this.#events.push({ type: "schedule", state, atMs, ...ofTask(record, this.at.wallMs) });
  }

  remove(id: string): void {
    const record = this.get(id);
    if (record === undefined) return;
    this.#tasks.set(id, undefined);
    this.#events.push({ type: "removed", ...ofTask(record, this.at.wallMs) });
  }

  /** Deletes the record that a one-shot has succeeded. */
  forget(of: Pick<Succeeded, "group" | "name">): void {
    if (this.#succeeded.get(succeededKey(of)) !== undefined) this.#succeeded.set(succeededKey(of), undefined);
  }

  /** Applies an event to its task. Returns false if the task does not exist any more. */
  apply(id: string, event: TaskEvent): boolean {
    return this.#take(id, (record) => reconcile(record, event, this.#view(record)));
  }

  /** Applies an event to each of these tasks, and decides when all have got it: what depends on a task that is stopped with it stops first. */
  applyTogether(events: readonly (readonly [id: string, event: TaskEvent])[]): void {
    for (const [id, event] of events) this.#take(id, (record) => absorb(record, event, this.#view(record)));
    for (const [id, { at }] of events) this.apply(id, { type: "tick", at });
  }

  #take(id: string, decide: (record: TaskRecord) => Reconciled): boolean {
    const record = this.get(id);
    if (record === undefined) return false;
    const { record: next, actions, changes } = decide(record);
    this.#tasks.set(id, next);
    for (const action of actions) this.#orders.push({ record: next, action });
    for (const change of changes) this.#events.push({ ...change, ...ofTask(next, this.at.wallMs) });
    if (record.known !== "STOPPED" && isDone(next)) this.#remember(next);
    return true;
  }

  /** Admits waiting tasks that fit now, and records for the others what is short. Afterwards no waiting task fits. */
  admit(capacity: HostCapacity, policy: QueuePolicy): void {
    // A pass may admit or refuse a task, which may make room for another one. Repeats until a pass does neither.
    for (let decided = true; decided; ) {
      this.settle();
      const waiting = this.all().some(({ admission, desired }) => admission === "waiting" && desired === "RUNNING");
      const decisions = waiting ? schedule(this.all(), capacity, policy, this.at) : [];
      for (const { task, event } of decisions) this.apply(task, event);
      decided = decisions.some(({ event }) => event.type !== "waiting");
    }
  }

  /** Lets tasks decide again that depend on a changed task of their group, and ends tasks whose replacement works now. */
  settle(): void {
    // An action that has ended leaves no event, and may be what a proxy has waited for to become one that waits for its next use.
    const touched = [...this.touched.values()].flatMap((record) => record?.group ?? []);
    for (const group of new Set(touched)) if (this.#groups.sharesProxy(group)) this.#shareProxies(group);
    // Each pass advances a task by one step, and a group has a bounded number of steps. The limit only guards against defects.
    for (let pass = 0, before = 0; this.#events.length > before && pass < 1000; pass++) {
      const changed = this.#events.slice(before);
      before = this.#events.length;
      for (const group of new Set(changed.map(({ group }) => group))) {
        if (this.#groups.isLinked(group)) for (const id of this.#groups.idsOf(group)) this.apply(id, { type: "tick", at: this.at });
        if (this.#groups.sharesProxy(group)) this.#shareProxies(group);
      }
      for (const id of new Set(changed.map(({ task }) => task))) this.#takeOver(id);
    }
  }

  /** One-shots whose success is recorded by this draft, by succeededKey; undefined: the record is deleted. */
  get remembered(): ReadonlyMap<string, Succeeded | undefined> {
    return this.#succeeded.changes;
  }

  /** Each task to which something has happened, whether its record has changed or not; undefined: it is removed. */
  get touched(): ReadonlyMap<string, TaskRecord | undefined> {
    return this.#tasks.changes;
  }

  /** Actions to perform after the transaction is committed. */
  get orders(): readonly Order[] {
    return this.#orders;
  }

  /** Whether there are events of the host, of a service or of a watched file, which may come without a change of a record. */
  get hasTold(): boolean {
    return this.#others.length > 0;
  }

  get events(): readonly EngineEvent[] {
    return [...this.#others, ...this.#events];
  }

  #remember({ group, name, digest, id }: TaskRecord): void {
    this.#succeeded.set(succeededKey({ group, name }), { group, name, digest, task: id, wallMs: this.at.wallMs });
  }

  /** Ends the older tasks of the same name, once a replacement with the order startFirst works. */
  #takeOver(id: string): void {
    const record = this.get(id);
    if (record?.replaces?.order !== "startFirst" || record.replaces.isRolledOut || !works(record)) return;
    const why = reason("Replaced", `the task was replaced by ${id}`);
    const ids = this.#groups.idsOf(record.group);
    for (const other of ids.slice(0, ids.indexOf(id)).map((one) => this.get(one))) {
      if (other?.name === record.name && !other.isDeleteAsked) this.apply(other.id, { type: "delete", at: this.at, reason: why });
    }
  }

  /** Stops proxies that nobody uses any more, and tasks whose proxy has failed. */
  #shareProxies(group: string): void {
    const all = this.#groups.idsOf(group).flatMap((id) => this.get(id) ?? []);
    for (const record of all.filter(sharesProxy)) {
      const event = proxyEvent(record, all, this.at);
      if (event !== undefined) this.apply(record.id, event);
    }
  }

  #view(record: TaskRecord): DecisionContext {
    const succeeded = this.#groups.isLinked(record.group)
      ? [...this.succeeded().values()].flatMap(({ group, name }) => (group === record.group ? [name] : []))
      : [];
    return { options: this.#options, succeeded, ...this.#groups.neighbours(record, (id) => this.get(id)) };
  }
}

function isDone(record: TaskRecord): boolean {
  return hasSucceeded(record) && !record.isDeleteAsked && isRemembered(record.spec);
}

/** While the store cannot be written, the engine only performs stops, because a stop may be repeated. */
const WHY = "it was not run: the store cannot be written";

/** The stops that follow from a draft that could not be stored. `known`: runtime ids of stops that were already started; new ones are added. */
export function stopsOf(draft: Draft, known: Set<string>): Order[] {
  // A preStop command must run at most once, which cannot be guaranteed without the store. It is skipped, because a stop may wait for its result.
  for (let at = 0; at < draft.orders.length; at++) {
    const { action, record } = draft.orders[at]!;
    if (action.type !== "preStop") continue;
    const { container, generation } = action;
    draft.apply(record.id, { type: "preStopped", at: draft.at, container, generation, error: WHY });
  }
  return draft.orders.filter(({ action }) => {
    if (action.type !== "stop" || known.has(action.runtimeId)) return false;
    known.add(action.runtimeId);
    return true;
  });
}
