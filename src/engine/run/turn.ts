/**
 * The main loop of the engine. All events that are ready form one turn: each is applied to its task, then all changes
 * are stored in one transaction, and only then the actions start. A crash loses a whole turn or nothing.
 */
import { setImmediate as nextLoop } from "node:timers/promises";
import {
  type EngineOptions,
  type HostCapacity,
  type Instant,
  nextDeadline,
  type PoolRecord,
  type QueuePolicy,
  type RevisionRecord,
  type ServiceRecord,
  type TaskRecord,
} from "../model/index.ts";
import { type Store, type StoredRecord, StoreError } from "../store/index.ts";
import { Alarm, type Clock } from "./clock.ts";
import { type HostFacts, hostRow, poolRow, revisionRow, type Succeeded, serviceRow, succeededRow, taskRow } from "./desired/codec.ts";
import { Draft, type Order, stopsOf } from "./desired/draft.ts";
import type { Happening, Item, Mailbox } from "./mailbox.ts";
import type { Probe } from "./probe.ts";

export interface TurnsOptions {
  readonly store: Store;
  readonly mailbox: Mailbox;
  /** The tasks, by id. Only turns change this map. */
  readonly records: Map<string, TaskRecord>;
  /** By succeededKey. Only turns change this map. */
  readonly succeeded: Map<string, Succeeded>;
  /** By serviceKey. Only turns change this map. */
  readonly services: Map<string, ServiceRecord>;
  /** By revisionKey. Only turns change this map. */
  readonly revisions: Map<string, RevisionRecord>;
  /** By id. Only turns change this map. */
  readonly pools: Map<string, PoolRecord>;
  readonly clock: Clock;
  readonly options: EngineOptions;
  readonly capacity: HostCapacity;
  readonly queue: QueuePolicy;
  /** The facts are those of the store, or those that the first turn stores. Only turns change them. */
  readonly host: { facts: HostFacts };
  /** Called for each action, after it is stored. */
  readonly carryOut: (order: Order) => void;
  /** Called when a commit fails; with undefined when one succeeds again. */
  readonly onStore: (error: StoreError | undefined) => void;
  /** Called with an error that is a defect of this program. What has led to it is dropped, and the engine goes on with everything else. */
  readonly onDefect: (error: unknown) => void;
  readonly probe?: Probe | undefined;
}

const RETRY_MS = 1_000;

export class Turns {
  readonly #options: TurnsOptions;
  readonly #records: Map<string, TaskRecord>;
  readonly #listeners = new Set<() => void>();
  readonly #deadlines: Deadlines;
  readonly #retry: Alarm;
  #isHeld = true;
  #isWritable = true;
  #isSound = true;
  /** Runtime ids of the containers that are being stopped although this could not be stored. */
  readonly #unrecorded = new Set<string>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#records = options.records;
    this.#deadlines = new Deadlines(() => this.#tick());
    this.#retry = new Alarm(() => this.#tryAgain());
  }

  /** Starts processing events. They are queued until the engine has examined the containers on disk. */
  release(): void {
    this.#isHeld = false;
    void this.#run();
  }

  /** Calls `listener` after each transaction. Returns a function that unsubscribes it. */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tries to write, if it is known that this fails: that shows as when somebody had asked for a change. Otherwise keeps what a full disk needs. */
  checkStore(): void {
    const { store } = this.#options;
    if (store.loss !== undefined) this.#tryAgain();
    else store.keepReserve();
  }

  stop(): void {
    this.#isHeld = true;
    this.#deadlines.stop();
    this.#retry.set(undefined);
  }

  /** What comes until the loop of events turns is in one turn. */
  async #run(): Promise<void> {
    while (!this.#isHeld) {
      await this.#options.mailbox.news();
      await nextLoop();
      if (!this.#isHeld) this.#turn();
    }
  }

  #turn(): void {
    const items = this.#options.mailbox.take();
    this.#isSound = true;
    const now = this.#options.clock.now();
    try {
      if (!this.#isDone(items, now)) return;
    } catch (error) {
      for (const { reject } of items) reject?.(error);
      this.#defect(error);
    }
    // The deadline of a task that cannot be decided stays in the past: without the pause the turns would follow each other without an end.
    if (this.#isSound) this.#deadlines.arm(now);
    else this.#retry.set(RETRY_MS);
  }

  /** Returns false if nothing could be stored. */
  #isDone(items: readonly Item[], now: Instant): boolean {
    const draft = new Draft(this.#options, this.#options.options, now);
    const done = items.filter((item) => this.#isApplied(item, draft));
    draft.admit(this.#options.capacity, this.#options.queue);
    const { probe } = this.#options;
    if (probe !== undefined) {
      for (const { of } of done) if (of !== undefined) probe("before-result", of);
      for (const { action } of draft.orders) probe("before-commit", action.type);
    }
    if (!this.#commit(draft, done)) return false;
    if (draft.newFacts !== undefined) this.#options.host.facts = draft.newFacts;
    for (const [id, record] of draft.touched) this.#take(id, record, draft);
    takeChanges(this.#options.succeeded, draft.remembered);
    takeChanges(this.#options.services, draft.services.changes);
    takeChanges(this.#options.revisions, draft.revisions.changes);
    takeChanges(this.#options.pools, draft.pools.changes);
    for (const { resolve } of done) resolve?.();
    if (probe !== undefined) for (const { action } of draft.orders) probe("after-commit", action.type);
    for (const order of draft.orders) this.#alone(() => this.#options.carryOut(order));
    for (const listener of this.#listeners) this.#alone(listener);
    return true;
  }

  /** What fails must not keep what comes behind it from its turn. */
  #alone(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#defect(error);
    }
  }

  #defect(error: unknown): void {
    this.#isSound = false;
    this.#options.onDefect(error);
  }

  #take(id: string, record: TaskRecord | undefined, { at }: Draft): void {
    this.#deadlines.set(id, record, at);
    if (record === undefined) {
      this.#records.delete(id);
      return;
    }
    this.#records.set(id, record);
    // The journal is the reader that must have the end of a task, and it has it now: it keeps the end for all later readers.
    if (record.known === "STOPPED" && record.sent !== "STOPPED") this.#options.mailbox.post(id, acknowledgement(record));
  }

  /** Returns false if nothing was stored. Events of the engine are then queued again; callers get the error. */
  #commit(draft: Draft, items: readonly Item[]): boolean {
    const changed = [...draft.touched].filter(([id, record]) => record !== this.#records.get(id));
    const put = changed.flatMap(([, record]) => (record === undefined ? [] : taskRow(record)));
    const others = [
      rowsOf("succeeded", draft.remembered, succeededRow),
      rowsOf("service", draft.services.changes, serviceRow),
      rowsOf("revision", draft.revisions.changes, revisionRow),
      rowsOf("pool", draft.pools.changes, poolRow),
    ];
    put.push(...others.flatMap((one) => one.put), ...(draft.newFacts === undefined ? [] : [hostRow(draft.newFacts)]));
    const remove = [
      ...changed.flatMap(([id, record]) => (record === undefined ? ({ kind: "task", key: id } as const) : [])),
      ...others.flatMap((one) => one.remove),
    ];
    const events = draft.events.map((event) => JSON.stringify(event));
    // A turn without changes writes nothing, so that it does not show whether the store can be written.
    if (put.length + remove.length === 0 && !draft.hasTold) return true;
    try {
      this.#options.store.commit({ put, remove, events });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#refuse(items, error);
      return false;
    }
    if (!this.#isWritable) this.#options.onStore(undefined);
    this.#isWritable = true;
    this.#unrecorded.clear();
    return true;
  }

  /** Writes something, so that it shows whether the store can be written again. If nothing is queued, the host facts are written. */
  #tryAgain(): void {
    const { mailbox } = this.#options;
    const rewrite = (draft: Draft) => {
      draft.facts = { ...draft.facts };
    };
    if (mailbox.isEmpty) mailbox.put({ step: rewrite });
    else mailbox.wake();
  }

  #refuse(items: readonly Item[], error: StoreError): void {
    if (this.#isWritable) this.#options.onStore(error);
    this.#isWritable = false;
    this.#retry.set(RETRY_MS);
    const draft = new Draft(this.#options, this.#options.options, this.#options.clock.now());
    // The refused changes must not take part in deciding what to stop.
    const kept = items.filter((item) => {
      if (item.reject === undefined || item.isStop === true) return this.#isApplied(item, draft);
      item.reject(error);
      return false;
    });
    for (const { resolve } of kept) resolve?.();
    // The callers of kept items have their answer already, so that only the steps are queued again.
    this.#options.mailbox.putBack(kept.map(({ resolve: _, reject: __, ...item }) => item));
    for (const order of stopsOf(draft, this.#unrecorded)) this.#options.carryOut(order);
  }

  /** Returns false if the step threw. The error goes to the caller who waits; one of an event, for which nobody waits, is a defect. */
  #isApplied({ step, reject, isStop }: Item, draft: Draft): boolean {
    try {
      draft.attempt(() => step(draft));
      return true;
    } catch (error) {
      if (reject === undefined && isStop !== true) this.#defect(error);
      reject?.(error);
      return false;
    }
  }

  #tick(): void {
    const now = this.#options.clock.now();
    for (const id of this.#deadlines.passed(now)) this.#options.mailbox.post(id, { type: "tick" });
    // The alarm may fire before the deadline.
    if (this.#options.mailbox.isEmpty) this.#deadlines.arm(now);
  }
}

/** What is stored of records other than tasks, and what is removed. */
function rowsOf<T>(kind: StoredRecord["kind"], changes: ReadonlyMap<string, T | undefined>, rowOf: (value: T) => StoredRecord) {
  const all = [...changes];
  return {
    put: all.flatMap(([, value]) => (value === undefined ? [] : rowOf(value))),
    remove: all.flatMap(([key, value]) => (value === undefined ? { kind, key } : [])),
  };
}

function takeChanges<T>(map: Map<string, T>, changes: ReadonlyMap<string, T | undefined>): void {
  for (const [key, value] of changes) value === undefined ? map.delete(key) : map.set(key, value);
}

function acknowledgement({ known, containers }: TaskRecord): Happening {
  const told = containers.map(({ name, generation, known: status }) => [name, { generation, known: status }] as const);
  return { type: "acknowledged", known, containers: Object.fromEntries(told) };
}

/** Keeps the next deadline of each task. */
class Deadlines {
  /** Milliseconds of CLOCK_BOOTTIME, by task id. A deadline that has passed stays until its task was processed. */
  readonly #due = new Map<string, number>();
  readonly #alarm: Alarm;

  constructor(ring: () => void) {
    this.#alarm = new Alarm(ring);
  }

  /** Called each time a task was processed. `record` undefined: the task was removed. */
  set(id: string, record: TaskRecord | undefined, now: Instant): void {
    const next = record && nextDeadline(record, now);
    if (next) this.#due.set(id, next.bootMs);
    else this.#due.delete(id);
  }

  passed({ bootMs }: Instant): string[] {
    return [...this.#due].filter(([, due]) => due <= bootMs).map(([id]) => id);
  }

  /** Sets the alarm to the earliest deadline. */
  arm({ bootMs }: Instant): void {
    this.#alarm.set(this.#due.size === 0 ? undefined : Math.min(...this.#due.values()) - bootMs);
  }

  stop(): void {
    this.#alarm.set(undefined);
  }
}
