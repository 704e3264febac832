/**
 * The heart of the engine. All events that are ready make one turn: each is applied to its task, one after the other; then everything they have changed
 * is stored in one transaction; and only then what they have decided is done. A crash anywhere loses either a whole turn or nothing.
 */
import type { EngineOptions, HostCapacity, QueuePolicy, TaskEvent, TaskRecord } from "../model/index.ts";
import { type Store, StoreError } from "../store/index.ts";
import { Alarm, type Clock } from "./clock.ts";
import { type HostFacts, hostRow, type Succeeded, succeededKey, succeededRow, taskRow } from "./codec.ts";
import { Deadlines } from "./deadlines.ts";
import { Draft, type Order } from "./draft.ts";

type WithoutTime<T> = T extends unknown ? Omit<T, "at"> : never;
/** An event whose time is that of its turn. */
export type Happening = WithoutTime<TaskEvent>;

/** A change that a caller waits for. It throws before it has changed anything, or not at all. Returns the facts of the host, if they change. */
export type Edit = (draft: Draft) => HostFacts | undefined;

interface Item {
  readonly step: Edit;
  readonly resolve?: () => void;
  readonly reject?: (error: unknown) => void;
}

export interface TurnsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly options: EngineOptions;
  readonly capacity: HostCapacity;
  readonly queue: QueuePolicy;
  /** Called for each action when it is stored. */
  readonly carryOut: (order: Order) => void;
  /** The store cannot be written, or can be again (undefined). */
  readonly onStore: (error: StoreError | undefined) => void;
}

const RETRY_MS = 1_000;

export class Turns {
  readonly #options: TurnsOptions;
  readonly #records = new Map<string, TaskRecord>();
  readonly #succeeded = new Map<string, Succeeded>();
  readonly #listeners = new Set<() => void>();
  readonly #deadlines: Deadlines;
  readonly #retry: Alarm;
  #queue: Item[] = [];
  #isScheduled = false;
  #isHeld = true;
  #isWritable = true;
  /** Events of tasks that are not there any more. */
  ignored = 0;

  constructor(options: TurnsOptions, records: readonly TaskRecord[], succeeded: readonly Succeeded[]) {
    this.#options = options;
    for (const record of records) this.#records.set(record.id, record);
    for (const one of succeeded) this.#succeeded.set(succeededKey(one), one);
    this.#deadlines = new Deadlines(() => this.#tick());
    this.#retry = new Alarm(() => this.#schedule());
  }

  get records(): ReadonlyMap<string, TaskRecord> {
    return this.#records;
  }

  /** By succeededKey. */
  get succeeded(): ReadonlyMap<string, Succeeded> {
    return this.#succeeded;
  }

  /** Events wait until the world has been looked at. */
  release(): void {
    this.#isHeld = false;
    this.#schedule();
  }

  post(task: string, happening: Happening): void {
    this.#enqueue({
      step: (draft) => {
        if (!draft.apply(task, { ...happening, at: draft.at })) this.ignored++;
        return undefined;
      },
    });
  }

  /** Resolves when it is stored. @throws what `step` throws, and StoreError not-written; nothing of it is stored then */
  edit(step: Edit): Promise<void> {
    return new Promise((resolve, reject) => this.#enqueue({ step, resolve, reject }));
  }

  /** Returns how to stop being told. */
  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#isHeld = true;
    this.#deadlines.stop();
    this.#retry.set(undefined);
  }

  #enqueue(item: Item): void {
    this.#queue.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isHeld || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isHeld) this.#turn();
    });
  }

  #turn(): void {
    const items = this.#queue;
    this.#queue = [];
    const draft = new Draft({ records: this.#records, succeeded: this.#succeeded }, this.#options.options, this.#options.clock.now());
    let host: HostFacts | undefined;
    const done = items.filter((item) => {
      try {
        host = item.step(draft) ?? host;
        return true;
      } catch (error) {
        // An event of the engine's own that cannot be applied is a defect of this program.
        if (item.reject === undefined) throw error;
        item.reject(error);
        return false;
      }
    });
    draft.admit(this.#options.capacity, this.#options.queue);
    if (!this.#commit(draft, host, done)) return;
    for (const [id, record] of draft.touched) this.#take(id, record, draft);
    for (const [key, one] of draft.remembered) one === undefined ? this.#succeeded.delete(key) : this.#succeeded.set(key, one);
    for (const { resolve } of done) resolve?.();
    for (const order of draft.orders) this.#options.carryOut(order);
    for (const listener of this.#listeners) listener();
    this.#deadlines.arm(draft.at);
    this.#schedule();
  }

  #take(id: string, record: TaskRecord | undefined, { at }: Draft): void {
    this.#deadlines.set(id, record, at);
    if (record === undefined) {
      this.#records.delete(id);
      return;
    }
    this.#records.set(id, record);
    // The journal is who has to be told, and it has been: it keeps the end for every later reader.
    if (record.known === "STOPPED" && record.sent !== "STOPPED") this.post(id, acknowledgement(record));
  }

  /** False: nothing of it is stored. What has happened is kept and tried again; who has asked for something is told. */
  #commit(draft: Draft, host: HostFacts | undefined, items: readonly Item[]): boolean {
    const changed = [...draft.touched].filter(([id, record]) => record !== this.#records.get(id));
    const put = changed.flatMap(([, record]) => (record === undefined ? [] : taskRow(record)));
    const remembered = [...draft.remembered];
    const remove = [
      ...changed.flatMap(([id, record]) => (record === undefined ? ({ kind: "task", key: id } as const) : [])),
      ...remembered.flatMap(([key, one]) => (one === undefined ? ({ kind: "succeeded", key } as const) : [])),
    ];
    const events = draft.events.map((event) => JSON.stringify(event));
    try {
      if (changed.length > 0 || remembered.length > 0 || host !== undefined) {
        const others = [
          ...remembered.flatMap(([, one]) => (one === undefined ? [] : succeededRow(one))),
          ...(host === undefined ? [] : [hostRow(host)]),
        ];
        this.#options.store.commit({ put: [...put, ...others], remove, events });
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      for (const { reject } of items) reject?.(error);
      this.#queue = [...items.filter(({ reject }) => reject === undefined), ...this.#queue];
      if (this.#isWritable) this.#options.onStore(error);
      this.#isWritable = false;
      this.#retry.set(RETRY_MS);
      return false;
    }
    if (!this.#isWritable) this.#options.onStore(undefined);
    this.#isWritable = true;
    return true;
  }

  #tick(): void {
    const now = this.#options.clock.now();
    for (const id of this.#deadlines.passed(now)) this.post(id, { type: "tick" });
    // It may have rung a little early.
    if (this.#queue.length === 0) this.#deadlines.arm(now);
  }
}

function acknowledgement({ known, containers }: TaskRecord): Happening {
  const told = containers.map(({ name, generation, known: status }) => [name, { generation, known: status }] as const);
  return { type: "acknowledged", known, containers: Object.fromEntries(told) };
}
