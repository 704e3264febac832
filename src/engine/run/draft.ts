/** The changes of one turn: copies of records that shadow the stored ones until the transaction is committed. */
import {
  type Action,
  type DecisionContext,
  type EngineOptions,
  type HostCapacity,
  hasSucceeded,
  type Instant,
  isStarting,
  type QueuePolicy,
  reason,
  reconcile,
  schedule,
  type TaskEvent,
  type TaskRecord,
} from "../model/index.ts";
import { type Succeeded, succeededKey } from "./codec.ts";
import { Groups } from "./groups.ts";
import { type Caller, type ChangeRequest, type EngineEvent, ofTask } from "./journal.ts";

export interface Order {
  readonly record: TaskRecord;
  readonly action: Action;
}

/** Everything that is stored, but for the facts of the host. */
export interface Stored {
  readonly records: ReadonlyMap<string, TaskRecord>;
  /** By succeededKey. */
  readonly succeeded: ReadonlyMap<string, Succeeded>;
}

export class Draft {
  readonly at: Instant;
  readonly #stored: Stored;
  readonly #options: EngineOptions;
  /** Of each task that something has happened to, whether it has changed or not; undefined: it is removed. */
  readonly #touched = new Map<string, TaskRecord | undefined>();
  readonly #remembered = new Map<string, Succeeded | undefined>();
  readonly #orders: Order[] = [];
  readonly #events: EngineEvent[] = [];
  readonly #groups: Groups;

  constructor(stored: Stored, options: EngineOptions, at: Instant) {
    this.#stored = stored;
    this.#options = options;
    this.at = at;
    this.#groups = new Groups(stored.records.values());
  }

  get(id: string): TaskRecord | undefined {
    return this.#touched.has(id) ? this.#touched.get(id) : this.#stored.records.get(id);
  }

  all(): TaskRecord[] {
    return [...new Set([...this.#stored.records.keys(), ...this.#touched.keys()])].flatMap((id) => this.get(id) ?? []);
  }

  /** One-shots that are remembered, by succeededKey. */
  succeeded(): Map<string, Succeeded> {
    const all = new Map(this.#stored.succeeded);
    for (const [key, one] of this.#remembered) one === undefined ? all.delete(key) : all.set(key, one);
    return all;
  }

  /** What has run before under its name counts no longer. */
  add(record: TaskRecord): void {
    this.#touched.set(record.id, record);
    this.#groups.add(record);
    this.forget(record);
    this.#events.push({ type: "added", digest: record.digest, ...ofTask(record, this.at.wallMs) });
  }

  /** For the journal; `by` undefined: the program itself. */
  note(id: string, request: ChangeRequest, by: Caller | undefined): void {
    const record = this.get(id);
    if (record !== undefined && by !== undefined) this.#events.push({ type: "request", request, by, ...ofTask(record, this.at.wallMs) });
  }

  remove(id: string): void {
    const record = this.get(id);
    if (record === undefined) return;
    this.#touched.set(id, undefined);
    this.#events.push({ type: "removed", ...ofTask(record, this.at.wallMs) });
  }

  /** That a one-shot has succeeded. */
  forget(of: Pick<Succeeded, "group" | "name">): void {
    if (this.succeeded().has(succeededKey(of))) this.#remembered.set(succeededKey(of), undefined);
  }

  /** False: there is no such task any more. */
  apply(id: string, event: TaskEvent): boolean {
    const record = this.get(id);
    if (record === undefined) return false;
    const { record: next, actions, changes } = reconcile(record, event, this.#view(record));
    this.#touched.set(id, next);
    for (const action of actions) this.#orders.push({ record: next, action });
    for (const change of changes) this.#events.push({ ...change, ...ofTask(next, this.at.wallMs) });
    if (record.known !== "STOPPED" && hasSucceeded(next) && !next.isDeleteAsked) this.#remember(next);
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

  /** Whoever waits for a container of another task of its group is asked again when that one has changed, and what was started first takes over. */
  settle(): void {
    // Each pass moves some task one step on, and a group has a bounded number of steps: the bound is for what should not be.
    for (let pass = 0, before = 0; this.#events.length > before && pass < 1000; pass++) {
      const changed = this.#events.slice(before);
      before = this.#events.length;
      for (const group of new Set(changed.map(({ group }) => group))) {
        if (this.#groups.isLinked(group)) for (const id of this.#groups.idsOf(group)) this.apply(id, { type: "tick", at: this.at });
      }
      for (const id of new Set(changed.map(({ task }) => task))) this.#takeOver(id);
    }
  }

  /** What is newly remembered, or (undefined) no longer. */
  get remembered(): ReadonlyMap<string, Succeeded | undefined> {
    return this.#remembered;
  }

  get touched(): ReadonlyMap<string, TaskRecord | undefined> {
    return this.#touched;
  }

  /** Actions to carry out after the transaction is stored. */
  get orders(): readonly Order[] {
    return this.#orders;
  }

  get events(): readonly EngineEvent[] {
    return this.#events;
  }

  #remember({ group, name, digest, id }: TaskRecord): void {
    this.#remembered.set(succeededKey({ group, name }), { group, name, digest, task: id, wallMs: this.at.wallMs });
  }

  /** A task that was started first ends those of its name before it, once it works. */
  #takeOver(id: string): void {
    const record = this.get(id);
    if (record?.replaces?.order !== "startFirst" || !works(record)) return;
    const why = reason("Replaced", `the task was replaced by ${id}`);
    const ids = this.#groups.idsOf(record.group);
    for (const other of ids.slice(0, ids.indexOf(id)).map((one) => this.get(one))) {
      if (other?.name === record.name && !other.isDeleteAsked) this.apply(other.id, { type: "delete", at: this.at, reason: why });
    }
  }

  #view(record: TaskRecord): DecisionContext {
    const succeeded = this.#groups.isLinked(record.group)
      ? [...this.succeeded().values()].flatMap(({ group, name }) => (group === record.group ? [name] : []))
      : [];
    return { options: this.#options, succeeded, ...this.#groups.neighbours(record, (id) => this.get(id)) };
  }
}

function works({ known, desired, containers }: TaskRecord): boolean {
  return (
    known === "RUNNING" &&
    desired === "RUNNING" &&
    containers.every((one) => !isStarting(one) && (one.health === null || one.health.status === "HEALTHY"))
  );
}
