import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { newRecord, type TaskRecord, upgradeRecord } from "./index.ts";

const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x" }] });
const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "b", bootMs: 0, wallMs: 0 } });

/** The record as the earlier version wrote it. */
function without(value: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function ofVersion1(task: TaskRecord, container: readonly string[], names: readonly string[] = []): TaskRecord {
  const containers = task.containers.map((one) => without(one, "update", ...container));
  return { ...without(task, "replaces", "previous", ...names), version: 1, containers } as unknown as TaskRecord;
}

test("records of the first programs: no cgroup of their own, and nothing told before a stop", () => {
  expect(upgradeRecord(ofVersion1(record, ["preStop"], ["cgroup"]))).toEqual(record);
});

test("what a record of version 1 says is kept", () => {
  const told: TaskRecord = { ...record, cgroup: "/runtd/x", containers: record.containers.map((one) => ({ ...one, preStop: "done" })) };
  expect(upgradeRecord(ofVersion1(told, []))).toEqual(told);
});
