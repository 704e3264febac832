/** Starts the runs of tasks with a schedule, and removes those of their history. */
import { decideSchedule, nextLookMs, type TaskRecord } from "../model/index.ts";
import { Alarm } from "./clock.ts";
import type { Edits } from "./desired/edits.ts";
import type { EngineLog } from "./log.ts";

export interface SchedulesOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly edits: Pick<Edits, "make">;
  readonly log: EngineLog;
  /** The time of the day, in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Somebody may set the clock: it is looked at that often. */
const LONGEST_MS = 60_000;
const RETRY_MS = 10_000;

/** What the next time of a schedule was computed from. */
interface Looked {
  readonly seen: readonly TaskRecord[];
  readonly nextMs: number | undefined;
  /** When. */
  readonly atMs: number;
}

export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #now: () => number;
  readonly #alarm = new Alarm(() => this.refresh());
  /** By the id of the task with the schedule. */
  readonly #looked = new Map<string, Looked>();
  /** Ids of those for which something is being recorded. */
  readonly #busy = new Set<string>();
  #isStarted = false;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Called when it is known what has become of all tasks: a run that has ended holds the next one back no longer. */
  start(): void {
    this.#isStarted = true;
    this.refresh();
  }

  stop(): void {
    this.#isStarted = false;
    this.#alarm.set(undefined);
  }

  /** Called after each change of a task. */
  refresh(): void {
    if (!this.#isStarted) return;
    const all = [...this.#options.records.values()];
    const scheduled = all.filter(({ spec, isDeleteAsked }) => spec.schedule !== undefined && !isDeleteAsked);
    const ids = new Set(scheduled.map(({ id }) => id));
    for (const id of this.#looked.keys()) if (!ids.has(id)) this.#looked.delete(id);
    if (scheduled.length === 0) {
      this.#alarm.set(undefined);
      return;
    }
    const runs = all.filter(({ run }) => run !== undefined);
    for (const record of scheduled) this.#look(record, runs, all);
    const now = this.#now();
    const next = [...this.#looked.values()].flatMap(({ nextMs }) => nextMs ?? []);
    this.#alarm.set(Math.min(LONGEST_MS, ...next.map((ms) => ms - now)));
  }

  #look(record: TaskRecord, runs: readonly TaskRecord[], all: readonly TaskRecord[]): void {
    const { id, group, name } = record;
    if (this.#busy.has(id)) return;
    const now = this.#now();
    const seen = [record, ...runs.filter(({ run, group: of }) => of === group && run?.of === name)];
    const before = this.#looked.get(id);
    const isSame = before?.seen.length === seen.length && seen.every((one, at) => one === before.seen[at]);
    // A clock that was set back makes the next time another one.
    if (isSame && now >= before.atMs && (before.nextMs === undefined || now < before.nextMs)) return;
    const { due, remove } = decideSchedule(record, all, now);
    this.#looked.set(id, { seen, nextMs: nextLookMs(record, now), atMs: now });
    if (due !== undefined || remove.length > 0) void this.#carryOut(id, now);
  }

  async #carryOut(id: string, nowMs: number): Promise<void> {
    this.#busy.add(id);
    try {
      await this.#options.edits.make(undefined, (commands) => commands.runSchedule(id, nowMs));
    } catch (error) {
      // Such as a disk that is full, or users of which none are left.
      this.#options.log("error", "schedule-failed", { task: id, message: String(error) });
      this.#looked.set(id, { seen: this.#looked.get(id)?.seen ?? [], nextMs: this.#now() + RETRY_MS, atMs: this.#now() });
    } finally {
      this.#busy.delete(id);
      this.refresh();
    }
  }
}
