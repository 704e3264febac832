import { describe, expect, it } from "vitest";
import { describeChanges, type RecordedPlan } from "../prepare/index.ts";
import { parseJson, printJson } from "../spec/index.ts";
import { merge } from "./kept-config.ts";

describe("merge", () => {
  it("changes what is given, and nothing else", () => {
    const before = { linux: { resources: { memory: { limit: 1, swap: 2 }, devices: [1] }, namespaces: [] }, root: {} };
    const change = { linux: { resources: { memory: { limit: 5n, reservation: undefined }, pids: { limit: 3 }, devices: null } } };
    expect(merge(before, change)).toEqual({
      linux: { resources: { memory: { limit: 5, swap: 2 }, devices: [1], pids: { limit: 3 } }, namespaces: [] },
      root: {},
    });
  });
});

describe("printJson", () => {
  it("keeps every digit", () => {
    const text = '{"a":[18446744073709551615,-9223372036854775808],"b":"\\"\\\\u0000123\\""}';
    expect(printJson(parseJson(text))).toBe(text);
  });
});

describe("describeChanges", () => {
  const parts = { plan: "p", config: "c", host: "h", sources: "s" };
  const before: RecordedPlan = {
    id: "a",
    digest: "",
    parts,
    host: { caller: { uid: 0, gid: 0 } },
    sources: [{ from: "/mounts/0", path: "/x", identity: "1:2" }],
  };
  const now = { parts, answers: before.host, sources: before.sources, plan: { version: 1, id: "a", slots: 0, ops: [] } } as const;

  it.each([
    ["an id", { ...now, plan: { ...now.plan, id: "b" } }, ['it was made for the id "a"']],
    ["the configuration", { ...now, parts: { ...parts, config: "d" } }, ["config.json has changed"]],
    ["a fact", { ...now, answers: { caller: { uid: 5, gid: 0 } } }, ["the host has changed: caller"]],
    [
      "an inode",
      { ...now, sources: [{ from: "/mounts/0", path: "/x", identity: "1:3" }] },
      ["/mounts/0/source /x is another file (1:2, now 1:3)"],
    ],
    ["nothing of these", now, ["the options of the command line are others"]],
    ["the order of keys", { ...now, answers: { caller: { gid: 0, uid: 0 } } }, ["the options of the command line are others"]],
  ])("names %s", (_, changed, expected) => {
    expect(describeChanges(before, changed)).toEqual(expected);
  });
});
