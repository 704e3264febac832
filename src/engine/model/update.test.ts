import { expect, test } from "vitest";
import { type TaskSpec, taskSchema } from "../spec/index.ts";
import { DEFAULT_OPTIONS, isInPlace, newRecord, reconcile, type TaskEvent, type TaskRecord } from "./index.ts";

const at = (bootMs: number) => ({ bootId: "b", bootMs, wallMs: bootMs });
const host = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };
const specWith = (container: Record<string, unknown>, task: Record<string, unknown> = {}): TaskSpec =>
  taskSchema.parse({ name: "t", ...task, containers: [{ name: "c", rootfs: "/r", command: "x", ...container }] });

test.each([
  ["another limit", { memory: 1 }, { memory: 2 }, true],
  ["a limit more", {}, { memory: 2, cpus: 1 }, true],
  ["a limit less: the kernel keeps it until it is told otherwise", { memory: 1 }, {}, false],
  ["another program", { memory: 1 }, { memory: 2, command: "y" }, false],
  ["nothing", { memory: 1 }, { memory: 1 }, true],
])("%s: whether it can be done in place", (_, before, now, expected) => {
  expect(isInPlace(specWith(before), specWith(now))).toBe(expected);
});

test("another runtime may not change limits, but annotations are the engine's own", () => {
  expect(isInPlace(specWith({ memory: 1 }, { runtime: "vm" }), specWith({ memory: 2 }, { runtime: "vm" }))).toBe(false);
  expect(isInPlace(specWith({ memory: 1 }, { runtime: "vm" }), specWith({ memory: 1 }, { runtime: "vm", annotations: { a: "b" } }))).toBe(
    true,
  );
});

test.each([
  ["another one", { memory: 1 }, { memory: 2, cpus: 1 }, true],
  ["one less", { memory: 1, pids: 5 }, { memory: 1 }, false],
  ["in a virtual machine", { memory: 1, runtime: "vm" }, { memory: 2, runtime: "vm" }, false],
])("limits of the whole task, %s: whether they change in place", (_, before, now, expected) => {
  expect(isInPlace(specWith({}, before), specWith({}, now))).toBe(expected);
});

/** A running container with a limit of 1 byte of memory, and the actions that were decided for it. */
function running(): { record: () => TaskRecord; send: (event: TaskEvent) => string[] } {
  let record = newRecord({ id: "g.t.1", group: "g", spec: specWith({ memory: 1 }), cgroup: null, at: at(0) });
  const send = (event: TaskEvent) => {
    const { record: next, actions } = reconcile(record, event, host);
    record = next;
    return actions.map(({ type }) => type);
  };
  send({ type: "admitted", at: at(0) });
  for (const target of ["PULLED", "CREATED", "RUNNING"] as const)
    send({ type: "result", at: at(1), container: "c", generation: 1, target });
  return { record: () => record, send };
}

const respec = (memory: number): TaskEvent => ({ type: "respec", at: at(5), spec: specWith({ memory }), digest: `${memory}` });
const updated = (error?: string): TaskEvent => ({
  ...{ type: "updated", at: at(6), container: "c", generation: 1 },
  ...(error === undefined ? {} : { error: { message: error, isOutcomeUnknown: false } }),
});

test("limits that change while others are being written are written after them, and only one is in flight at a time", () => {
  const { record, send } = running();
  expect(send(respec(2))).toEqual(["update"]);
  expect(send(respec(3))).toEqual([]);
  expect(send(updated())).toEqual(["update"]);
  expect(send(updated())).toEqual([]);
  expect([record().containers[0]!.update, record().previous?.digest]).toEqual([null, "2"]);
});

test("limits that cannot be written are tried again, and the reason is there until they are", () => {
  const { record, send } = running();
  send(respec(2));
  expect(send(updated("device or resource busy"))).toEqual([]);
  expect(record().containers[0]!.update).toMatchObject({ failures: 1, error: "device or resource busy" });
  expect(send({ type: "tick", at: at(2_000) })).toEqual(["update"]);
  expect(send({ type: "fenced", at: at(2_001) })).toEqual(["update"]);
  expect(send(updated())).toEqual([]);
  expect(record().containers[0]!.update).toBeNull();
});

test("limits of the whole task are written with those of each container, although these are the same", () => {
  const { record, send } = running();
  expect(send({ type: "respec", at: at(5), spec: specWith({ memory: 1 }, { cpus: 1 }), digest: "more" })).toEqual(["update"]);
  expect(send(updated())).toEqual([]);
  expect(record().containers[0]!.update).toBeNull();
});

test("another annotation of the task is done in place: nothing that runs knows of it", () => {
  expect(isInPlace(specWith({}, { annotations: { a: "1" } }), specWith({}, { annotations: { a: "2" } }))).toBe(true);
});
