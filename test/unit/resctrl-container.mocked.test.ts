import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { groupsBelow, locateGroups, releaseGroups } from "../../src/runtime/resctrl/container.ts";
import { joinGroup, makeMonitor, prepareGroup } from "../../src/runtime/resctrl/group.ts";
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

const prepare = (group: string) => prepareGroup({ mount: fake.mount, group }, true, [], "");
const monitor = (group: string) => makeMonitor({ mount: fake.mount, group }, "");
const below = (closId: string | undefined, monitoring = false) => groupsBelow(fake.mount, "c", closId, monitoring);

describe("the groups of a container", () => {
  it("need resctrl to be mounted", () => {
    expect(locateGroups("c", undefined, false)).toEqual(below(undefined));
    fake.isMounted = false;
    expect(() => locateGroups("c", undefined, false)).toThrow(
      expect.objectContaining({
        code: "resctrl",
        message: "linux.intelRdt: no resctrl filesystem is mounted",
        details: { pointer: "/linux/intelRdt", hint: "mount -t resctrl resctrl /sys/fs/resctrl" },
      }),
    );
  });

  it.each<[string | undefined, object]>([
    [undefined, { group: "c", made: true, keep: false, monitor: "c/mon_groups/c" }],
    ["gold", { group: "gold", made: true, keep: true, monitor: "gold/mon_groups/c" }],
    ["/", { group: "", made: false, keep: true, monitor: "mon_groups/c" }],
  ])("closID %s", (closId, expected) => {
    expect(below(closId, true)).toEqual({ mount: fake.mount, ...expected });
    expect(below(closId)).not.toHaveProperty("monitor");
  });

  it("are not made when they are there", () => {
    prepare("gold");
    expect(below("gold").made).toBe(false);
  });

  it("must not be monitored already under this name", () => {
    monitor("mon_groups/c");
    expect(below("/", false).group).toBe("");
    expect(() => below("/", true)).toThrow(
      expect.objectContaining({ code: "resctrl", details: { pointer: "/linux/intelRdt/enableMonitoring" } }),
    );
  });
});

describe("the end of a container", () => {
  function born(closId: string | undefined) {
    const ref = below(closId, true);
    if (ref.made) prepare(ref.group);
    monitor(ref.monitor ?? "");
    joinGroup(ref, 42, "");
    return ref;
  }

  it("takes its own group away, with what is in it", () => {
    releaseGroups(born(undefined), false);
    expect(fake.groups()).toEqual([]);
  });

  it("leaves a named group, and takes its monitoring group away", () => {
    releaseGroups(born("gold"), false);
    expect(fake.groups()).toEqual(["gold"]);
    releaseGroups(born("/"), false);
    expect(fake.groups()).toEqual(["gold"]);
  });

  it("leaves a group of its name that it has not made", () => {
    prepare("c");
    releaseGroups(born(undefined), false);
    expect(fake.groups()).toEqual(["c"]);
  });

  it("before its beginning: a named group goes too, but not when somebody else is in it", () => {
    const ref = below("gold");
    prepare("gold");
    joinGroup(ref, 7, "");
    releaseGroups(ref, true);
    expect(fake.groups()).toEqual(["gold"]);
    fake.put("gold/tasks", "");
    releaseGroups(ref, true);
    expect(fake.groups()).toEqual([]);
  });

  it("finds nothing where nothing was made, or where resctrl is gone", () => {
    const ref = below("gold", true);
    releaseGroups(ref, true);
    fake.remove();
    releaseGroups(ref, true);
    releaseGroups({ ...ref, keep: false }, false);
  });
});
