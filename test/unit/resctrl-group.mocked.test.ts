import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RuntError } from "../../src/runtime/errors/index.ts";
import { changeSchemata, joinGroup, makeMonitor, pathOf, prepareGroup } from "../../src/runtime/resctrl/group.ts";
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

const AT = "/linux/intelRdt";
const ref = (group: string) => ({ mount: fake.mount, group });
const prepare = (group: string, schemata: string[] = [], create = true) => prepareGroup(ref(group), create, schemata, AT);

function refusal(action: () => unknown): RuntError {
  try {
    action();
  } catch (error) {
    if (error instanceof RuntError) return error;
    throw error;
  }
  throw new Error("accepted");
}

it("knows its paths", () => {
  expect([pathOf(ref("")), pathOf(ref("a")), pathOf(ref(""), "tasks"), pathOf(ref("a"), "tasks")]).toEqual(
    ["", "/a", "/tasks", "/a/tasks"].map((path) => fake.mount + path),
  );
});

describe("a group that is absent", () => {
  it("is made with its schemata, of which the last one wins", () => {
    expect(prepare("gold", ["L3:0=ff;1=f", "MB:0=35", "L3:1=1f"])).toBe(true);
    expect(fake.read("gold/schemata")).toBe("    MB:0=40;1=100\n    L3:0=ff;1=1f\n");
  });

  it("is made without any, and nothing is written then", () => {
    expect(prepare("own")).toBe(true);
    expect(fake.read("own/schemata")).toBe("    MB:0=100;1=100\n    L3:0=fff;1=fff\n");
  });

  it("does not stay when a schema is refused, and the kernel's words are passed on", () => {
    const error = refusal(() => prepare("gold", ["MB:0=50", "L2:0=f"]));
    expect(error).toMatchObject({ code: "resctrl", details: { pointer: AT } });
    expect(error.message).toContain(`cannot write "L2:0=f" to ${fake.mount}/gold/schemata`);
    expect(error.message).toContain("(Unknown or unsupported resource name 'L2')");
    expect(fake.groups()).toEqual([]);
  });

  it("is an error where it may not be made", () => {
    expect(refusal(() => prepare("gold", [], false))).toMatchObject({
      message: `linux.intelRdt: the group ${fake.mount}/gold does not exist`,
      details: { pointer: AT },
    });
    expect(fake.groups()).toEqual([]);
  });

  it("needs a free class of service", () => {
    for (const name of ["a", "b", "c"]) prepare(name);
    const error = refusal(() => prepare("d"));
    expect(error.message).toContain("(Out of CLOSIDs)");
    expect(error.details.hint).toContain("no more classes");
  });
});

describe("a group that is there", () => {
  beforeEach(() => fake.put("schemata", "    MB:0=100;1=40\n    L3:0=0ff;1=fff\n"));

  it("is taken as it is", () => {
    prepare("gold", ["L3:0=f"]);
    expect(prepare("gold", [], false)).toBe(false);
    expect(prepare("gold", [], true)).toBe(false);
    expect(prepare("")).toBe(false);
  });

  it.each([[["L3:0=0xff"]], [["L3:1=fff;0=ff", "MB:1=31"]]])("must have %j", (schemata) => {
    expect(prepare("", schemata)).toBe(false);
    expect(fake.read("schemata")).toBe("    MB:0=100;1=40\n    L3:0=0ff;1=fff\n");
  });

  it.each([["L3:0=f"], ["MB:1=41"], ["MB:1=30"]])("%s is not what it has: nothing is changed", (line) => {
    const error = refusal(() => prepare("", [line]));
    expect(error).toMatchObject({ code: "resctrl", details: { pointer: AT } });
    expect(error.message).toBe(`linux.intelRdt: the group ${fake.mount} exists with another schema for ${line.slice(0, 2)}`);
    expect(fake.read("schemata")).toBe("    MB:0=100;1=40\n    L3:0=0ff;1=fff\n");
  });
});

describe("joining", () => {
  it("writes the process to the group, then to its monitoring group", () => {
    prepare("gold");
    makeMonitor(ref("gold/mon_groups/c"), AT);
    expect(refusal(() => joinGroup(ref("gold/mon_groups/c"), 42, AT)).message).toContain("Can't move task to different control group");
    joinGroup(ref("gold"), 42, AT);
    joinGroup(ref("gold/mon_groups/c"), 42, AT);
    expect([fake.read("gold/tasks"), fake.read("gold/mon_groups/c/tasks")]).toEqual(["42\n", "42\n"]);
  });

  it("takes no monitoring group that is there", () => {
    makeMonitor(ref("mon_groups/c"), AT);
    expect(refusal(() => makeMonitor(ref("mon_groups/c"), AT))).toMatchObject({
      code: "resctrl",
      message: `linux.intelRdt: the monitoring group ${fake.mount}/mon_groups/c exists already`,
    });
  });

  it("fails for a group that is gone", () => {
    expect(refusal(() => joinGroup(ref("gone"), 1, AT)).code).toBe("resctrl");
  });
});

describe("new schemata for a group in use", () => {
  beforeEach(() => void prepare("gold", ["L3:0=f", "MB:0=50"]));
  const before = "    MB:0=50;1=100\n    L3:0=f;1=fff\n";

  it("can be taken back", () => {
    const restore = changeSchemata(ref("gold"), ["L3:0=ff", "MB:1=20"]);
    expect(fake.read("gold/schemata")).toBe("    MB:0=50;1=20\n    L3:0=ff;1=fff\n");
    restore();
    expect(fake.read("gold/schemata")).toBe(before);
  });

  it("change nothing when one is refused", () => {
    expect(refusal(() => changeSchemata(ref("gold"), ["L3:0=ff", "MB:7=20"])).message).toContain("(Unknown domain)");
    expect(fake.read("gold/schemata")).toBe(before);
  });
});
