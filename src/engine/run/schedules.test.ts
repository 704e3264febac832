import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEFAULT_OPTIONS, DEFAULT_USERS, type TaskRecord } from "../model/index.ts";
import { taskSchema } from "../spec/index.ts";
import { Commands } from "./desired/commands.ts";
import { Draft } from "./desired/draft.ts";
import { Schedules, type SchedulesOptions } from "./schedules.ts";

const START = Date.parse("2026-11-29T12:00:30Z");
const minute = 60_000;

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

/** What a daemon has: its store outlives it. */
class Host {
  readonly records = new Map<string, TaskRecord>();
  readonly told: string[] = [];
  readonly logged: string[] = [];
  refused: Error | undefined;
  #revision = 0;
  #schedules: Schedules | undefined;

  start(): void {
    const edits: SchedulesOptions["edits"] = { make: async (_, change) => this.#make(change) };
    this.#schedules = new Schedules({ records: this.records, edits, log: (_, event) => void this.logged.push(event) });
    this.#schedules.start();
  }

  kill(): void {
    this.#schedules?.stop();
    this.#schedules = undefined;
  }

  apply(schedule?: object): void {
    const containers = [{ name: "c", rootfs: "/r", command: "x" }];
    const spec = taskSchema.parse({ name: "t", containers, ...(schedule && { schedule: { timeZone: "UTC", ...schedule } }) });
    void this.#make((commands) => commands.apply({ tasks: [spec], pools: [] }, "g", {}));
  }

  end(name: string): void {
    const record = [...this.records.values()].find((one) => one.name === name)!;
    this.records.set(record.id, { ...record, known: "STOPPED", desired: "STOPPED" });
    this.#schedules?.refresh();
  }

  runs(): string[] {
    return [...this.records.values()].flatMap(({ run, isDeleteAsked }) =>
      run === undefined || isDeleteAsked ? [] : [new Date(run.atMs).toISOString().slice(11, 16)],
    );
  }

  #make<T>(change: (commands: Commands) => T): T {
    if (this.refused !== undefined) throw this.refused;
    const draft = new Draft(
      {
        ...{ records: this.records, succeeded: new Map(), services: new Map(), revisions: new Map(), pools: new Map() },
        host: { facts: { epoch: 1, bootId: "b", revision: 0 } },
      },
      DEFAULT_OPTIONS,
      {
        bootId: "b",
        bootMs: 0,
        wallMs: Date.now(),
      },
    );
    const present = { capacity: { cpus: 1, memoryBytes: 1000 }, users: DEFAULT_USERS, hasVolumes: () => false, isKept: () => false };
    const commands = new Commands(draft, { ...present, cgroupOf: () => null, by: undefined }, this.#revision);
    const answer = change(commands);
    this.#revision = commands.revision;
    for (const [id, record] of draft.touched) record === undefined ? this.records.delete(id) : this.records.set(id, record);
    for (const event of draft.events) if (event.type === "schedule") this.told.push(event.state);
    this.#schedules?.refresh();
    return answer;
  }
}

const host = (schedule: object) => {
  const made = new Host();
  made.start();
  made.apply(schedule);
  return made;
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("runs begin at their time, and none before", async () => {
  const own = host({ cron: "*/2 * * * *" });
  await pass(89_000);
  expect(own.runs()).toEqual([]);
  await pass(2 * minute);
  expect(own.runs()).toEqual(["12:02"]);
  await pass(2 * minute);
  expect(own.runs()).toEqual(["12:02", "12:04"]);
  expect(own.told).toEqual(["started", "started"]);
});

test("what was missed while no daemon was there runs once, within the time that it may be late", async () => {
  for (const [startWithin, runs, told] of [
    [undefined, ["12:05", "13:30"], ["started", "started"]],
    [60, ["12:05", "13:30"], ["started", "started"]],
    [30, ["12:05"], ["started", "missed"]],
  ] as const) {
    vi.setSystemTime(START);
    const own = host({ cron: "*/5 * * * *", ...(startWithin === undefined ? {} : { startWithin }) });
    await pass(5 * minute);
    own.kill();
    await pass(85 * minute + 15_000);
    expect(own.runs()).toEqual(["12:05"]);
    own.start();
    await pass(0);
    expect([own.runs(), own.told]).toEqual([runs, told]);
    own.start();
    await pass(0);
    expect(own.runs()).toEqual(runs);
    own.kill();
  }
});

test("a run that waits for the one before begins when that has ended", async () => {
  const own = host({ cron: "* * * * *", overlap: "forbid" });
  await pass(3 * minute);
  expect([own.runs(), own.told]).toEqual([["12:01"], ["started", "held", "held"]]);
  own.end(`t-${Math.floor(START / minute) + 1}-0`);
  await pass(0);
  expect(own.runs()).toEqual(["12:01", "12:03"]);
});

test("each time of a schedule with several times a minute has its run", async () => {
  const own = host({ cron: "@every 10s" });
  await pass(minute);
  expect(own.told).toEqual(Array(6).fill("started"));
  expect(own.runs()).toHaveLength(6);
});

test("a run takes the place of the one before", async () => {
  const own = host({ cron: "* * * * *", overlap: "replace" });
  await pass(2 * minute);
  expect(own.runs()).toEqual(["12:02"]);
});

test("a clock that is set is noticed within a minute", async () => {
  const own = host({ cron: "0 3 * * *" });
  await pass(minute);
  vi.setSystemTime(Date.parse("2026-11-30T03:00:01Z"));
  await pass(minute);
  expect(own.runs()).toEqual(["03:00"]);
});

test("a clock that was in the future when the task was made, and has been set right since, is noticed within a minute, and told", async () => {
  vi.setSystemTime(Date.parse("2099-01-01T00:00:30Z"));
  const own = host({ cron: "* * * * *" });
  await pass(minute);
  expect(own.runs()).toEqual(["00:01"]);
  vi.setSystemTime(START);
  await pass(minute);
  expect(own.told).toEqual(["started", "reset"]);
  await pass(2 * minute);
  expect(own.told.slice(2)).toEqual(["started", "started"]);
});

test("what cannot be recorded is tried again, and told", async () => {
  const own = host({ cron: "* * * * *" });
  own.refused = new Error("the disk is full");
  await pass(minute);
  expect([own.runs(), own.logged.every((event) => event === "schedule-failed"), own.logged.length > 0]).toEqual([[], true, true]);
  own.refused = undefined;
  await pass(15_000);
  expect(own.runs()).toEqual(["12:01"]);
});

test("an apply that changes the schedule forgets nothing of it, one without it takes its runs along", async () => {
  const own = host({ cron: "* * * * *" });
  await pass(minute);
  own.apply({ cron: "0 * * * *" });
  await pass(5 * minute);
  expect(own.runs()).toEqual(["12:01"]);
  expect([...own.records.values()].find(({ name }) => name === "t")?.scheduled?.startedMs).toBe(Date.parse("2026-11-29T12:01Z"));
  own.apply({ cron: "0 * * * *", suspended: true });
  vi.setSystemTime(Date.parse("2026-11-29T13:30Z"));
  own.apply({ cron: "0 * * * *" });
  await pass(0);
  expect(own.runs()).toEqual(["12:01", "13:00"]);
  own.apply();
  expect(own.runs()).toEqual([]);
});
