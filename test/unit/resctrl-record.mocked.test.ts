import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addMonitor, prepareGroups } from "../../src/runtime/execute/cgroup-operations.ts";
import type { Execution } from "../../src/runtime/execute/execution.ts";
import { locateGroups, releaseGroups } from "../../src/runtime/resctrl/index.ts";
import type { ResctrlRecord } from "../../src/runtime/state/index.ts";
import { type FakeResctrl, makeResctrl } from "../support/fake-resctrl.ts";

let fake: FakeResctrl;
vi.mock("runt:host", async (original) => {
  const { withResctrl } = await import("../support/fake-resctrl.ts");
  return withResctrl(await original(), () => fake);
});
beforeEach(() => {
  fake = makeResctrl();
});
afterEach(() => fake.remove());

/** A create that has got as far as its intent record. */
function begin(closId: string | undefined): { readonly execution: Execution; readonly resctrl: () => ResctrlRecord } {
  const execution = { made: { record: { resctrl: locateGroups("c", closId, true) } } } as Execution;
  return { execution, resctrl: () => execution.made.record.resctrl! };
}
const prepare = (execution: Execution, group: string, schemata: string[] = []) =>
  prepareGroups(execution, { mount: fake.mount, group, create: true, schemata }, "");
const monitor = (execution: Execution, group: string) => addMonitor(execution, { mount: fake.mount, group }, "");

describe("the record of a container that is being made", () => {
  it("names what it has made", () => {
    const { execution, resctrl } = begin("gold");
    const intent = resctrl();
    prepare(execution, "gold", ["L3:0=f"]);
    monitor(execution, "gold/mon_groups/c");
    expect(resctrl()).toEqual(intent);
    expect(fake.groups()).toEqual(["gold", "gold/mon_groups/c"]);
    releaseGroups(resctrl(), true);
    expect(fake.groups()).toEqual([]);
  });

  it("does not name a group that somebody else has made meanwhile", () => {
    const { execution, resctrl } = begin("gold");
    prepare(begin("gold").execution, "gold", ["L3:0=f"]);
    expect(() => prepare(execution, "gold", ["L3:0=ff"])).toThrow("exists with another schema for L3");
    expect(resctrl().made).toBe(false);
    prepare(execution, "gold", ["L3:0=f"]);
    expect(resctrl().made).toBe(false);
    releaseGroups(resctrl(), true);
    expect(fake.groups()).toEqual(["gold"]);
  });

  it("does not name a monitoring group of somebody else", () => {
    const { execution, resctrl } = begin("/");
    monitor(begin("/").execution, "mon_groups/c");
    expect(() => monitor(execution, "mon_groups/c")).toThrow("exists already");
    expect(resctrl()).not.toHaveProperty("monitor");
    releaseGroups(resctrl(), true);
    expect(fake.groups()).toEqual(["mon_groups/c"]);
  });
});
