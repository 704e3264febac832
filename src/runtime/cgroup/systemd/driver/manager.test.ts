import { describe, expect, test } from "vitest";
import type { Outgoing, Received } from "../../../../../test/support/bus-outgoing.ts";
import { fakeBus } from "../../../../../test/support/fake-bus.ts";
import { RuntError } from "../../../errors/index.ts";
import { parseProperty } from "../compile/property.ts";
import { openConnection } from "./connection.ts";
import { createManager, processProperty, UnitExists } from "./manager.ts";

const JOB = "/org/freedesktop/systemd1/job/7";
const UNIT = "runt-c1.scope";
const PROPERTIES = [processProperty(42), parseProperty("Slice='system.slice'"), parseProperty("MemoryMax=uint64 5")];

const job: Outgoing = { reply: [JOB], signature: "o" };
const done: Outgoing = { reply: [] };
const removed = (result: string, path = JOB, sender?: string): Outgoing => ({
  signal: "JobRemoved",
  signature: "uoss",
  values: [7, path, UNIT, result],
  ...(sender === undefined ? {} : { sender }),
});
const exists: Outgoing = { error: "org.freedesktop.systemd1.UnitExists", text: `Unit ${UNIT} was already loaded or has a fragment file.` };
const missing: Outgoing = { error: "org.freedesktop.systemd1.NoSuchUnit", text: "not loaded" };

/** A manager whose calls are answered by member; lists are used up one by one. */
function manager(
  answers: Readonly<Record<string, readonly (readonly Outgoing[])[]>>,
  { direct = true, sender }: { direct?: boolean; sender?: string } = {},
) {
  const left = new Map(Object.entries(answers).map(([member, list]) => [member, [...list]]));
  const answer = ({ member }: Received) => left.get(member)?.shift() ?? [done];
  const bus = fakeBus({ answer, ...(sender === undefined ? {} : { sender }) });
  return { bus, calls: () => bus.calls.map((call) => call.member), systemd: createManager(openConnection(bus, direct), direct) };
}

describe("start", () => {
  test("the unit, its properties, and the job's end", () => {
    const { bus, calls, systemd } = manager({ StartTransientUnit: [[job, removed("done", "/other/job"), removed("done")]] });
    systemd.start(UNIT, PROPERTIES);
    expect(calls()).toEqual(["StartTransientUnit"]);
    expect(bus.calls[0]?.message).toMatchObject({
      path: "/org/freedesktop/systemd1",
      interface: "org.freedesktop.systemd1.Manager",
      signature: "ssa(sv)a(sa(sv))",
    });
    expect(bus.calls[0]?.message.destination).toBeUndefined();
    expect(bus.calls[0]?.values).toEqual([
      UNIT,
      "replace",
      [
        ["PIDs", { signature: "au", value: [42] }],
        ["Slice", { signature: "s", value: "system.slice" }],
        ["MemoryMax", { signature: "t", value: 5n }],
      ],
      [],
    ]);
  });

  test("a job that ends before its name is known", () => {
    const { systemd } = manager({ StartTransientUnit: [[removed("done"), job]] });
    expect(() => systemd.start(UNIT, PROPERTIES)).not.toThrow();
  });

  test("on a bus, only the end of this unit's jobs is asked for, and only systemd counts", () => {
    const { bus, calls, systemd } = manager(
      { StartTransientUnit: [[job, removed("failed", JOB, ":1.99"), removed("done")]] },
      { direct: false, sender: ":1.1" },
    );
    systemd.start(UNIT, PROPERTIES);
    expect(calls()).toEqual(["Hello", "AddMatch", "StartTransientUnit"]);
    // The first with the authentication, the others together.
    expect(bus.sent()).toBe(2);
    expect(bus.calls[1]?.values[0]).toContain(`arg2='${UNIT}'`);
    expect(bus.calls[2]?.message.destination).toBe("org.freedesktop.systemd1");
  });

  test("a bus that refuses the match", () => {
    const { systemd } = manager({ AddMatch: [[{ error: "a.b.Full", text: "full" }]], StartTransientUnit: [[job]] }, { direct: false });
    expect(() => systemd.start(UNIT, PROPERTIES)).toThrow("full");
  });

  test("a failed unit of this name is forgotten, and the start tried once more", () => {
    const { calls, systemd } = manager({ StartTransientUnit: [[exists], [job, removed("done")]] });
    systemd.start(UNIT, PROPERTIES);
    expect(calls()).toEqual(["StartTransientUnit", "ResetFailedUnit", "StartTransientUnit"]);
  });

  test("one that lives is an error of its own", () => {
    const notFailed: Outgoing = { error: "org.freedesktop.systemd1.NoSuchUnit" };
    const { calls, systemd } = manager({ StartTransientUnit: [[exists], [exists], [job]], ResetFailedUnit: [[notFailed]] });
    expect(() => systemd.start(UNIT, PROPERTIES)).toThrow(UnitExists);
    expect(calls()).toEqual(["StartTransientUnit", "ResetFailedUnit", "StartTransientUnit"]);
  });

  test.each(["failed", "canceled", "timeout", "dependency"])("a job that ends as %s", (result) => {
    const { calls, systemd } = manager({ StartTransientUnit: [[job, removed(result)]] });
    expect(() => systemd.start(UNIT, PROPERTIES)).toThrow(`error creating systemd unit \`${UNIT}\`: got \`${result}\``);
    expect(calls()).toEqual(["StartTransientUnit", "ResetFailedUnit"]);
  });

  test("a job that does not end", () => {
    const { bus, systemd } = manager({ StartTransientUnit: [[job]] });
    expect(() => systemd.start(UNIT, PROPERTIES)).toThrow(`timed out waiting for systemd to end StartTransientUnit(${UNIT}) after 30 s`);
    expect(bus.now()).toBeGreaterThanOrEqual(30_000);
    expect(bus.now()).toBeLessThan(31_000);
  });

  test("any other error is told as it is", () => {
    const refused: Outgoing = {
      error: "org.freedesktop.DBus.Error.PropertyReadOnly",
      text: "Cannot set property Foo, or unknown property.",
    };
    const { calls, systemd } = manager({ StartTransientUnit: [[refused]] });
    expect(() => systemd.start(UNIT, PROPERTIES)).toThrow("Cannot set property Foo, or unknown property.");
    expect(calls()).toEqual(["StartTransientUnit"]);
  });
});

describe("stop", () => {
  test.each([true, false])("waits for the job, and what has failed before is forgotten in the same message (direct: %s)", (direct) => {
    const { bus, calls, systemd } = manager({ StopUnit: [[job, removed("done")]] }, { direct });
    const before = bus.sent();
    systemd.stop(UNIT);
    expect(calls().slice(-2)).toEqual(["StopUnit", "ResetFailedUnit"]);
    expect(bus.sent() - before).toBe(1);
    expect(bus.calls.at(-2)?.values).toEqual([UNIT, "replace"]);
    expect(bus.calls.at(-1)?.values).toEqual([UNIT]);
  });

  test("a unit that fails while it is stopped is forgotten, too", () => {
    const { calls, systemd } = manager({ StopUnit: [[job, removed("timeout")]] });
    systemd.stop(UNIT);
    expect(calls()).toEqual(["StopUnit", "ResetFailedUnit", "ResetFailedUnit"]);
  });

  test("any other error is told", () => {
    const { systemd } = manager({ StopUnit: [[{ error: "a.b.Denied", text: "no" }]] });
    expect(() => systemd.stop(UNIT)).toThrow("no");
  });

  test("a unit that is gone", () => {
    const { calls, systemd } = manager({ StopUnit: [[missing]], ResetFailedUnit: [[missing]] });
    systemd.stop(UNIT);
    expect(calls()).toEqual(["StopUnit", "ResetFailedUnit"]);
  });

  test("a job that does not end", () => {
    expect(() => manager({ StopUnit: [[job]] }).systemd.stop(UNIT)).toThrow(RuntError);
  });
});

test("properties are set until the next boot", () => {
  const { bus, systemd } = manager({});
  systemd.setProperties(UNIT, [parseProperty("TasksMax=uint64 9")]);
  expect(bus.calls[0]).toMatchObject({
    member: "SetUnitProperties",
    values: [UNIT, true, [["TasksMax", { signature: "t", value: 9n }]]],
  });
});

test("a process is attached below the unit's cgroup", () => {
  const { bus, systemd } = manager({});
  systemd.attach(UNIT, "/sub", 42);
  expect(bus.calls[0]).toMatchObject({ member: "AttachProcessesToUnit", values: [UNIT, "/sub", [42]] });
});

describe("what systemd says of itself and its units", () => {
  const variant = (signature: string, value: string | bigint): Outgoing => ({ reply: [{ signature, value }], signature: "v" });

  test.each([
    ["252.38-1~deb12u1", 252],
    ["v249.11-0ubuntu3", 249],
    ["260~rc1", 260],
    ["", 0],
  ])("version %s, and its cgroup: asked for at once", (text, version) => {
    const { bus, systemd } = manager({ Get: [[variant("s", text)], [variant("s", "/a")]] });
    const before = bus.sent();
    expect(systemd.facts()).toEqual({ version, root: "/a" });
    expect(bus.sent() - before).toBe(1);
    const face = "org.freedesktop.systemd1.Manager";
    expect(bus.calls.map(({ values }) => values)).toEqual([
      [face, "Version"],
      [face, "ControlGroup"],
    ]);
  });

  test.each([
    [UNIT, "org.freedesktop.systemd1.Scope"],
    ["a.slice", "org.freedesktop.systemd1.Slice"],
  ])("properties of %s", (unit, face) => {
    const { bus, systemd } = manager({ GetUnit: [[{ reply: ["/unit/x"], signature: "o" }]], Get: [[variant("t", 5n)]] });
    expect(systemd.unitProperties(unit, ["TasksMax"])).toEqual([{ name: "TasksMax", value: { signature: "t", value: 5n } }]);
    expect(bus.calls[1]).toMatchObject({ member: "Get", values: [face, "TasksMax"], message: { path: "/unit/x" } });
  });
});
