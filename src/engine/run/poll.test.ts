import { expect, test } from "vitest";
import { newRecord, type TaskRecord } from "../model/index.ts";
import { taskSchema } from "../spec/index.ts";
import { missedIn } from "./poll.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const spec = taskSchema.parse({ name: "t", containers: [{ name: "a", rootfs: "/r", command: "x" }] });

function record(change: Partial<TaskRecord["containers"][number]>): TaskRecord {
  const made = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at });
  return { ...made, containers: made.containers.map((one) => ({ ...one, ...change })) };
}

const id = record({}).containers[0]!.runtimeId;

test.each([
  ["what runs on the disk, too", { known: "RUNNING" }, "running", undefined],
  ["an end that was not seen", { known: "RUNNING" }, "exited", "exited"],
  ["one that is on its way to its end", { known: "RUNNING" }, "between", undefined],
  ["nothing left of one that ran", { known: "RUNNING" }, "nothing", "absent"],
  ["nothing there of one that was not started", { known: "CREATED" }, "nothing", undefined],
  ["one that is being stopped", { known: "RUNNING", applied: "STOPPED" }, "exited", undefined],
  ["one that has stopped, and is there again", { known: "STOPPED" }, "running", "running"],
  ["one that has stopped", { known: "STOPPED" }, "exited", undefined],
] as const)("E25 %s", (_, container, disk, is) => {
  const entries = new Map(disk === "nothing" ? [] : [[id, disk === "between" ? undefined : disk]]);
  expect(missedIn([record(container)], entries).map((one) => one.is)).toEqual(is === undefined ? [] : [is]);
});
