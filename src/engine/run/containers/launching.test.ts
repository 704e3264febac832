import { expect, test } from "vitest";
import { newRecord, PAUSE_NAME, runtimeId } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { makerOf } from "./launching.ts";

const RUNTIMES = { vm: "/usr/sbin/runt-vm", other: "/usr/sbin/other-runt" };
const at = { bootId: "b", bootMs: 0, wallMs: 0 };

const makers = (runtime: string | undefined, runtimes: Readonly<Record<string, string>> = RUNTIMES) => {
  const containers = [{ name: "c", rootfs: "/r", command: "x" }];
  const spec = taskSchema.parse({ name: "t", ...(runtime === undefined ? {} : { runtime }), namespaces: { ipc: "shared" }, containers });
  const id = "g.t.1";
  const records = new Map([[id, newRecord({ id, group: "g", spec, cgroup: null, at })]]);
  return ["c", PAUSE_NAME].map((name) => makerOf(records, runtimes, runtimeId(id, name, 1)));
};

test("P3 what holds shared namespaces is made by the usual program, but in a machine, which it boots", () => {
  expect(makers(undefined)).toEqual([undefined, undefined]);
  expect(makers("other")).toEqual([RUNTIMES.other, undefined]);
  expect(makers("vm")).toEqual([RUNTIMES.vm, RUNTIMES.vm]);
});

test("a runtime that the host no longer has makes nothing", () => {
  expect(makers("vm", {})).toEqual([undefined, undefined]);
  expect(makers("constructor")).toEqual([undefined, undefined]);
});
