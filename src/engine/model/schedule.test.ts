import { describe, expect, test } from "vitest";
import { type TaskInput, taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import { reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { decideSchedule, lastTimeMs, nextLookMs, nextRunMs, nextTimeMs, runSpecs, scheduledAfter } from "./schedule.ts";

const ms = (text: string) => Date.parse(text);
const at = (wallMs: number) => ({ bootId: "b", bootMs: 0, wallMs });
const NOON = ms("2026-11-29T12:00:30Z");

function scheduleRecord(schedule: object = {}, scheduled?: TaskRecord["scheduled"], fields: Partial<TaskInput> = {}): TaskRecord {
  const containers = [{ name: "c", rootfs: "/r", command: "x" }];
  const spec = taskSchema.parse({ name: "t", containers, schedule: { cron: "*/10 * * * *", timeZone: "UTC", ...schedule }, ...fields });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: "/x", at: at(ms("2026-11-29T11:00:00Z")) });
  return scheduled === undefined ? record : { ...record, scheduled };
}

const times = (schedule: object, from: string, count: number) => {
  const spec = scheduleRecord(schedule).spec.schedule!;
  const found: string[] = [];
  let now: number | undefined = ms(from);
  while (found.length < count) {
    now = nextTimeMs(spec, now!);
    found.push(new Date(now!).toISOString().slice(5, 16));
  }
  return found;
};

describe("times", () => {
  test("are those of the time zone, also where its clock is changed", () => {
    const berlin = { cron: "30 2 * * *", timeZone: "Europe/Berlin" };
    expect(times(berlin, "2026-10-23T12:00Z", 3)).toEqual(["10-24T00:30", "10-25T00:30", "10-26T01:30"]);
    // This time of the day is not there on that day.
    expect(times(berlin, "2026-03-27T12:00Z", 3)).toEqual(["03-28T01:30", "03-29T01:00", "03-30T00:30"]);
  });

  test("with a day of the month and one of the week either of them is enough", () => {
    expect(times({ cron: "0 0 1 * 1" }, "2026-11-24T00:00Z", 3)).toEqual(["11-30T00:00", "12-01T00:00", "12-07T00:00"]);
    expect(times({ cron: "0 0 13 * *" }, "2026-11-24T00:00Z", 1)).toEqual(["12-13T00:00"]);
  });

  test("a day that never comes is no time", () => {
    const { schedule } = scheduleRecord({ cron: "0 0 30 2 *" }).spec;
    expect([nextTimeMs(schedule!, NOON), lastTimeMs(schedule!, 0, NOON)]).toEqual([undefined, undefined]);
  });

  test("the last one that has come is found however long nobody has looked", () => {
    const { schedule } = scheduleRecord({ cron: "* * * * *" }).spec;
    expect(lastTimeMs(schedule!, ms("2020-01-01T00:00Z"), NOON)).toBe(ms("2026-11-29T12:00Z"));
    expect(lastTimeMs(schedule!, ms("2026-11-29T12:00Z"), NOON)).toBeUndefined();
    expect(lastTimeMs(schedule!, 0, ms("2026-11-29T12:01:00.000Z"))).toBe(ms("2026-11-29T12:01Z"));
  });

  test("@every counts from the last time, not from now", () => {
    const record = scheduleRecord({ cron: "@every 7m" });
    expect(nextRunMs(record, NOON)).toBe(ms("2026-11-29T12:03:00Z"));
    expect(nextRunMs({ ...record, scheduled: { decidedMs: ms("2026-11-29T12:00:10Z") } }, NOON)).toBe(ms("2026-11-29T12:07:10Z"));
  });
});

let count = 0;
function run(atText: string, state: "active" | "succeeded" | "failed", copies = 1): TaskRecord[] {
  const owner = scheduleRecord({ copies });
  return runSpecs(owner, ms(atText)).map((spec) => {
    const record = newRecord({
      id: `g.${spec.name}.${++count + 1}`,
      group: "g",
      spec,
      cgroup: null,
      at: at(ms(atText)),
      run: { of: "t", atMs: ms(atText) },
    });
    if (state === "active") return record;
    const why = state === "succeeded" ? reason("EssentialContainerExited", "") : reason("StoppedByUser", "");
    const exit = { code: 0, signal: null, oomKilled: false, unknown: false, endedWallMs: 0 };
    return { ...record, known: "STOPPED", desired: "STOPPED", reason: why, containers: record.containers.map((one) => ({ ...one, exit })) };
  });
}
const decided = (record: TaskRecord, runs: readonly TaskRecord[] = [], now = NOON) => {
  const { due, remove } = decideSchedule(record, [record, ...runs], now);
  return { due: due && `${new Date(due.atMs).toISOString().slice(11, 16)} ${due.state}`, remove };
};
const BEFORE = { decidedMs: ms("2026-11-29T11:50Z") };

describe("decisions", () => {
  test("what was missed runs once, the last of it", () => {
    expect(decided(scheduleRecord())).toEqual({ due: "12:00 started", remove: [] });
    expect(decided(scheduleRecord({}, { decidedMs: ms("2026-11-29T12:00Z") })).due).toBeUndefined();
    expect(decided(scheduleRecord({}, BEFORE), [], ms("2026-11-29T11:59:59.999Z")).due).toBeUndefined();
    expect(decided(scheduleRecord({}, BEFORE), [], ms("2026-11-29T12:00Z")).due).toBe("12:00 started");
  });

  test("in the time that it may be late, and not after it", () => {
    expect(decided(scheduleRecord({ startWithin: 30 })).due).toBe("12:00 started");
    expect(decided(scheduleRecord({ startWithin: 29 })).due).toBe("12:00 missed");
  });

  test("suspended it starts nothing, and when it goes on what was missed runs", () => {
    const suspended = scheduleRecord({ suspended: true });
    expect(decided(suspended).due).toBeUndefined();
    expect([nextRunMs(suspended, NOON), nextLookMs(suspended, NOON)]).toEqual([undefined, undefined]);
    expect(decided(scheduleRecord()).due).toBe("12:00 started");
  });

  test("stopped it decides nothing", () => {
    const stopped = { ...scheduleRecord(), desired: "STOPPED" as const };
    expect([decided(stopped), nextRunMs(stopped, NOON)]).toEqual([{ due: undefined, remove: [] }, undefined]);
  });

  test("while a run goes on: both run, the next one waits, or it takes the place of the first", () => {
    const active = run("2026-11-29T11:50Z", "active", 2);
    const ids = active.map(({ id }) => id);
    expect(decided(scheduleRecord({}, BEFORE), active)).toEqual({ due: "12:00 started", remove: [] });
    expect(decided(scheduleRecord({ overlap: "replace" }, BEFORE), active)).toEqual({ due: "12:00 started", remove: ids });
    const forbid = { overlap: "forbid", startWithin: 120 };
    expect(decided(scheduleRecord(forbid, BEFORE), active)).toEqual({ due: "12:00 held", remove: [] });
    const held = scheduleRecord(forbid, { ...BEFORE, heldMs: ms("2026-11-29T12:00Z") });
    expect(decided(held, active).due).toBeUndefined();
    expect(nextLookMs(held, NOON)).toBe(ms("2026-11-29T12:02:00.001Z"));
    expect(decided(held, run("2026-11-29T11:50Z", "succeeded")).due).toBe("12:00 started");
    expect(decided(held, active, ms("2026-11-29T12:02:00.001Z")).due).toBe("12:00 missed");
  });

  test("one of several tasks of a run that goes on is enough", () => {
    const [first, second] = [...run("2026-11-29T11:50Z", "succeeded", 2)];
    const active = run("2026-11-29T11:50Z", "active", 2)[1]!;
    expect(decided(scheduleRecord({ overlap: "forbid" }, BEFORE), [first!, active]).due).toBe("12:00 held");
    expect(decided(scheduleRecord({ overlap: "forbid" }, BEFORE), [first!, second!]).due).toBe("12:00 started");
  });

  test("so many runs are kept, the youngest", () => {
    const good = ["11:10", "11:20", "11:30"].map((time) => run(`2026-11-29T${time}Z`, "succeeded"));
    const bad = ["11:15", "11:25"].map((time) => run(`2026-11-29T${time}Z`, "failed", 2));
    const done = { decidedMs: ms("2026-11-29T12:00Z") };
    const all = [...good, ...bad].flat().reverse();
    const ids = (runs: readonly TaskRecord[]) => runs.map(({ id }) => id);
    expect(decided(scheduleRecord({ keepSucceeded: 2 }, done), all).remove).toEqual([...ids(good[0]!), ...ids([...bad[0]!].reverse())]);
    expect(decided(scheduleRecord({ keepSucceeded: 0, keepFailed: 2, suspended: true }, done), all).remove).toEqual(ids(good.flat()));
    const going = all.map((one) => ({ ...one, isDeleteAsked: true }));
    expect(decided(scheduleRecord({ keepSucceeded: 0, keepFailed: 0 }, done), going).remove).toEqual([]);
  });

  test("several times of one minute are several runs, each with a name of its own", () => {
    const [record, noon] = [scheduleRecord({ cron: "@every 10s" }), ms("2026-11-29T12:00:00Z")];
    const startAt = (seconds: number, runs: readonly TaskRecord[]) => {
      const atMs = noon + seconds * 1000;
      const before = { ...record, scheduled: { decidedMs: atMs - 10_000 } };
      expect(decideSchedule(before, [before, ...runs], atMs).due).toEqual({ atMs, state: "started" });
      const make = ({ name }: { readonly name: string }) => newRecord({ ...named(name), run: { of: "t", atMs } });
      return [...runs, ...runSpecs(record, atMs).map(make)];
    };
    const named = (name: string) => ({ id: `g.${name}.1`, group: "g", spec: { ...record.spec, name }, cgroup: null, at: at(noon) });
    const runs = [0, 10, 20, 30, 40, 50].reduce((before: readonly TaskRecord[], seconds) => startAt(seconds, before), []);
    expect(runs.map(({ name }) => name)).toEqual([0, 10, 20, 30, 40, 50].map((seconds) => `t-${noon / 1000 + seconds}-0`));
    expect(runSpecs(scheduleRecord({ cron: "@every 1m" }), noon)[0]?.name).toBe(`t-${noon / 60_000}-0`);
  });

  test("a name that another task has is left out", () => {
    const [mine] = run("2026-11-29T12:00Z", "active");
    const { run: _, ...stranger } = mine!;
    expect(decided(scheduleRecord({}, BEFORE), [stranger]).due).toBe("12:00 taken");
    expect(decided(scheduleRecord({}, BEFORE), [{ ...stranger, group: "other" }]).due).toBe("12:00 started");
  });
});

describe("a clock that was wrong", () => {
  const reset = { due: "12:00 reset", remove: [] };

  test("and has been set back by years does not keep the schedule from running until then", () => {
    const later = { decidedMs: ms("2099-01-01T00:00Z"), heldMs: ms("2099-01-01T00:00Z") };
    for (const schedule of [{}, { cron: "@every 7m" }, { overlap: "forbid" }, { startWithin: 30 }])
      expect(decided(scheduleRecord(schedule, later))).toEqual(reset);
    const made = { ...scheduleRecord(), createdAt: at(ms("2099-01-01T00:00Z")) };
    expect(decided(made)).toEqual(reset);
    expect(decided(scheduleRecord({ suspended: true }, later)).due).toBeUndefined();
  });

  test("and has been set back by minutes makes no run twice", () => {
    expect(decided(scheduleRecord({}, { decidedMs: NOON + 600_000 })).due).toBeUndefined();
    expect(decided(scheduleRecord({}, { decidedMs: NOON + 600_001 }))).toEqual(reset);
  });

  /** The record after the decision of this time. */
  const looked = (record: TaskRecord, now: number) => {
    const { due } = decideSchedule(record, [record], now);
    return due === undefined ? record : { ...record, scheduled: scheduledAfter(record, due) };
  };
  const EARLY = ms("1970-01-01T00:00:10Z");

  test("and was behind when the host started: the schedule goes on where it was", () => {
    const every = scheduleRecord({ cron: "@every 7m" }, { decidedMs: ms("2026-11-29T11:56Z"), startedMs: ms("2026-11-29T11:56Z") });
    const behind = looked(every, EARLY);
    expect(behind.scheduled).toMatchObject({ decidedMs: EARLY, beforeResetMs: ms("2026-11-29T11:56Z") });
    expect(decided(behind, [], EARLY + 60_000).due).toBeUndefined();
    expect(decided(behind).due).toBeUndefined();
    expect([nextRunMs(behind, NOON), nextLookMs(behind, NOON)]).toEqual([ms("2026-11-29T12:03Z"), ms("2026-11-29T12:03Z")]);
    // Also when runs were made meanwhile, and when the host starts twice with that clock.
    const twice = looked(looked(looked(every, EARLY), EARLY + 420_000), EARLY - 5_000);
    expect(decided(twice).due).toBeUndefined();
    expect(looked(twice, ms("2026-11-29T12:03Z")).scheduled).toEqual({
      decidedMs: ms("2026-11-29T12:03Z"),
      startedMs: ms("2026-11-29T12:03Z"),
    });
    const missed = looked(scheduleRecord({ startWithin: 20 }, BEFORE), NOON);
    expect(missed.scheduled).toEqual({ decidedMs: ms("2026-11-29T12:00Z") });
    expect(decided({ ...looked(missed, EARLY), spec: scheduleRecord().spec }).due).toBeUndefined();
  });

  test("and was set back for good: the schedule keeps its rhythm when that time comes", () => {
    const ahead = ms("2026-11-29T12:30Z");
    let record = looked(scheduleRecord({ cron: "@every 7m" }, { decidedMs: ahead }), NOON);
    expect(record.scheduled).toEqual({ decidedMs: NOON, beforeResetMs: ahead });
    for (let now = NOON; now < ahead + 600_000; now += 60_000) record = looked(record, now);
    expect(record.scheduled).toEqual({ decidedMs: NOON + 5 * 420_000, startedMs: NOON + 5 * 420_000 });
  });

  test("and has been set forward by years makes the last of the runs, once", () => {
    const now = ms("2099-01-01T00:00:30Z");
    expect(decided(scheduleRecord({}, BEFORE), [], now).due).toBe("00:00 started");
    expect(decided(scheduleRecord({}, { decidedMs: ms("2099-01-01T00:00Z") }), [], now).due).toBeUndefined();
  });
});

describe("tasks of a run", () => {
  test("have the time in their name, and are run again whether or not they succeed", () => {
    const [spec, ...others] = runSpecs(scheduleRecord(), NOON);
    expect(others).toEqual([]);
    expect(spec).toMatchObject({ name: `t-${Math.floor(NOON / 60_000)}-0`, remember: false });
    expect(spec).not.toHaveProperty("schedule");
    expect(taskSchema.parse(spec)).toEqual(spec);
  });

  test("have what follows from time and index wherever it is", () => {
    const container = { name: "c", rootfs: "/r", command: "x", args: ["t-xMINUTES-0", "no", "xINDEXES."], env: { AT: "xMINUTES" } };
    const schedule = { copies: 2, placeholders: { minutes: "xMINUTES", index: "xINDEXES" } };
    const specs = runSpecs(scheduleRecord(schedule, undefined, { containers: [container] }), 60_000 * 7);
    expect(specs.map(({ containers: [one] }) => [one!.args, one!.env])).toEqual([
      [["t-7-0", "no", "0."], { AT: "7" }],
      [["t-7-1", "no", "1."], { AT: "7" }],
    ]);
  });

  test("wait for each other where fewer run at once", () => {
    const containers = [
      { name: "init", rootfs: "/r", command: "x", essential: false },
      { name: "a", rootfs: "/r", command: "x", dependsOn: [{ container: "init", condition: "SUCCESS" as const }] },
      { name: "b", rootfs: "/r", command: "x" },
    ];
    const specs = runSpecs(scheduleRecord({ copies: 3, atOnce: 2 }, undefined, { containers }), 60_000 * 7);
    const waits = specs.map((spec) => spec.containers.map(({ dependsOn }) => dependsOn.map(({ container }) => container)));
    const behind = ["t-7-0/a", "t-7-0/b"];
    expect(waits).toEqual([
      [[], ["init"], []],
      [[], ["init"], []],
      [behind, ["init"], behind],
    ]);
  });
});
