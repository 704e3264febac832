/** What a turn changes: a copy of the records on top of those that are stored, until the transaction is on the disk. */
import {
  type Action,
  type BundleView,
  type EngineOptions,
  type HostCapacity,
  type Instant,
  type QueuePolicy,
  reconcile,
  schedule,
  type TaskEvent,
  type TaskRecord,
} from "../model/index.ts";
import { type Caller, type EngineEvent, ofTask } from "./journal.ts";

export interface Order {
  readonly record: TaskRecord;
  readonly action: Action;
}

export class Draft {
  readonly at: Instant;
  readonly #stored: ReadonlyMap<string, TaskRecord>;
  readonly #options: EngineOptions;
  /** Of each task that something has happened to, whether it has changed or not; undefined: it is removed. */
  readonly #touched = new Map<string, TaskRecord | undefined>();
  readonly #orders: Order[] = [];
  readonly #events: EngineEvent[] = [];

  constructor(stored: ReadonlyMap<string, TaskRecord>, options: EngineOptions, at: Instant) {
    this.#stored = stored;
    this.#options = options;
    this.at = at;
  }

  get(id: string): TaskRecord | undefined {
    return this.#touched.has(id) ? this.#touched.get(id) : this.#stored.get(id);
  }

  all(): TaskRecord[] {
    return [...new Set([...this.#stored.keys(), ...this.#touched.keys()])].flatMap((id) => this.get(id) ?? []);
  }

  add(record: TaskRecord): void {
    this.#touched.set(record.id, record);
    this.#events.push({ type: "added", digest: record.digest, ...ofTask(record, this.at.wallMs) });
  }

  /** For the journal; `by` undefined: the program itself. */
  note(id: string, request: string, by: Caller | undefined): void {
    const record = this.get(id);
    if (record !== undefined && by !== undefined) this.#events.push({ type: "request", request, by, ...ofTask(record, this.at.wallMs) });
  }

  remove(id: string): void {
    const record = this.get(id);
    if (record === undefined) return;
    this.#touched.set(id, undefined);
    this.#events.push({ type: "removed", ...ofTask(record, this.at.wallMs) });
  }

  /** False: there is no such task any more. */
  apply(id: string, event: TaskEvent): boolean {
    const record = this.get(id);
    if (record === undefined) return false;
    const { record: next, actions, changes } = reconcile(record, event, this.#view(record));
    this.#touched.set(id, next);
    for (const action of actions) this.#orders.push({ record: next, action });
    for (const change of changes) this.#events.push({ ...change, ...ofTask(next, this.at.wallMs) });
    return true;
  }

  /** Admit those that wait and now fit; the others are told what is short. After this, nobody waits who would fit. */
  admit(capacity: HostCapacity, policy: QueuePolicy): void {
    // Each pass admits or refuses a task, which can give room to the next one: again until none is left that fits.
    for (let decided = true; decided; ) {
      this.settle();
      const waiting = this.all().some(({ admission, desired }) => admission === "waiting" && desired === "RUNNING");
      const decisions = waiting ? schedule(this.all(), capacity, policy, this.at) : [];
      for (const { task, event } of decisions) this.apply(task, event);
      decided = decisions.some(({ event }) => event.type !== "waiting");
    }
  }

  /** Whoever waits for a container of another task of its group is asked again when that one has changed. */
  settle(): void {
    // Each pass moves some task one step on, and a group has a bounded number of steps: the bound is for what should not be.
    for (let pass = 0, before = 0; this.#events.length > before && pass < 1000; pass++) {
      const groups = new Set(this.#events.slice(before).map(({ group }) => group));
      before = this.#events.length;
      for (const record of this.all()) {
        if (groups.has(record.group) && waitsForPeers(record)) this.apply(record.id, { type: "tick", at: this.at });
      }
    }
  }

  get touched(): ReadonlyMap<string, TaskRecord | undefined> {
    return this.#touched;
  }

  /** What is to be done once this is stored. */
  get orders(): readonly Order[] {
    return this.#orders;
  }

  get events(): readonly EngineEvent[] {
    return this.#events;
  }

  #view(record: TaskRecord): BundleView {
    const newest = new Map<string, TaskRecord>();
    if (waitsForPeers(record)) {
      for (const other of this.all()) {
        if (other.group === record.group && other.id !== record.id) newest.set(other.name, other);
      }
    }
    return { options: this.#options, peers: [...newest.values()] };
  }
}

/** Of the shape TASK/CONTAINER. */
function waitsForPeers({ spec }: TaskRecord): boolean {
  return spec.containers.some(({ dependsOn }) => dependsOn.some(({ container }) => container.includes("/")));
}
