import { expect, test } from "vitest";
import { type Contents, chainOf, changes, contentsIn, markOf, NOTHING, taskIn, together, writable } from "./contents.ts";

const TABLE = "ip runt-01234567";
const element = (key: string, value?: string, mark = "runt: g.a.1") => ({ set: "ports", key, value, mark });
const state = (elements: Contents["elements"], ...chains: Contents["chains"]): Contents => ({ elements, chains });

test("one state leads to another by what differs: elements go before their chains, and chains are there before what leads to them", () => {
  const before = state(
    [element("tcp . 80", "10.0.0.2 . 80"), element("tcp . 81", "10.0.0.2 . 81")],
    chainOf("old", ["drop"]),
    chainOf("kept", ["return"]),
  );
  const after = state(
    [element("tcp . 80", "10.0.0.3 . 80"), element("tcp . 81", "10.0.0.2 . 81")],
    chainOf("kept", ["drop"]),
    chainOf("new", ["accept"]),
  );
  const digest = (text: string) => chainOf("", [text]).rules[0]!.digest;
  expect(changes(TABLE, before, after)).toEqual([
    `delete element ${TABLE} ports { tcp . 80 }`,
    `add chain ${TABLE} kept`,
    `add chain ${TABLE} new`,
    `flush chain ${TABLE} kept`,
    `add rule ${TABLE} kept drop comment "runt: ${digest("drop")}"`,
    `add rule ${TABLE} new accept comment "runt: ${digest("accept")}"`,
    `add element ${TABLE} ports { tcp . 80 comment "runt: g.a.1" : 10.0.0.3 . 80 }`,
    `flush chain ${TABLE} old`,
    `delete chain ${TABLE} old`,
  ]);
  expect(changes(TABLE, after, after)).toEqual([]);
  // What is known by its digest alone stays.
  const read = state([], { name: "old", rules: [{ digest: digest("drop") }] });
  expect(changes(TABLE, read, state([], chainOf("old", ["drop"])))).toEqual([]);
  expect(changes(TABLE, NOTHING, read)).toEqual([]);
});

test("what is known by its digest alone and is gone cannot be written, nor what leads to it", () => {
  const known = chainOf("known", ["drop"]);
  const read = { name: "read", rules: [{ digest: "0123456789ab" }] };
  const whole = state([element("a", "goto read"), element("b", "goto known"), element("c")], known, read);
  expect(writable(whole, state([], read))).toEqual(whole);
  expect(writable(whole, NOTHING)).toEqual(state([element("b", "goto known"), element("c")], known));
});

test("what nft prints is read: elements of all kinds with their comments, and chains with their rules in order", () => {
  const text = JSON.stringify({
    nftables: [
      { metainfo: { version: "1.0.6" } },
      { table: { family: "ip", name: "runt-01234567", handle: 1 } },
      { set: { name: "published", type: "ipv4_addr", elem: [{ elem: { val: "10.0.0.2", comment: "runt: g.a.1" } }, "10.0.0.3"] } },
      {
        map: { name: "ports", elem: [[{ elem: { val: { concat: ["tcp", 80] }, comment: "runt: g.a.1" } }, { concat: ["10.0.0.2", 80] }]] },
      },
      {
        map: {
          name: "to",
          elem: [[{ elem: { val: { prefix: { addr: "10.0.0.0", len: 20 } }, comment: "x" } }, { jump: { target: "to-rt-1" } }]],
        },
      },
      { map: { name: "outward", elem: [["10.0.0.2", { goto: { target: "out-rt-1" } }]] } },
      { map: { name: "empty" } },
      { chain: { name: "lead" } },
      { rule: { chain: "lead", comment: "runt: 0123456789ab", expr: [] } },
      { rule: { chain: "lead", expr: [] } },
    ],
  });
  expect(contentsIn(text)).toEqual({
    elements: [
      { set: "published", key: "10.0.0.2", value: undefined, mark: "runt: g.a.1" },
      { set: "published", key: "10.0.0.3", value: undefined, mark: "" },
      { set: "ports", key: "tcp . 80", value: "10.0.0.2 . 80", mark: "runt: g.a.1" },
      { set: "to", key: "10.0.0.0/20", value: "jump to-rt-1", mark: "x" },
      { set: "outward", key: "10.0.0.2", value: "goto out-rt-1", mark: "" },
    ],
    chains: [{ name: "lead", rules: [{ digest: "0123456789ab" }, { digest: "" }] }],
  });
  expect(() => contentsIn("{}")).toThrow();
});

test("what is in the table of the family bridge is kept apart from what has the same name in the other one", () => {
  const [ours, theirs] = [chainOf("same", ["drop"]), chainOf("same", ["return"], undefined, "bridge")];
  const digest = (text: string) => chainOf("", [text]).rules[0]!.digest;
  const frame = { ...element("veth1"), set: "watched", family: "bridge" as const };
  expect(changes(TABLE, state([], ours), state([frame], ours, theirs))).toEqual([
    "add chain bridge runt-01234567 same",
    `add rule bridge runt-01234567 same return comment "runt: ${digest("return")}"`,
    'add element bridge runt-01234567 watched { veth1 comment "runt: g.a.1" }',
  ]);
  expect(changes(TABLE, state([frame], ours, theirs), state([], ours))).toEqual([
    "delete element bridge runt-01234567 watched { veth1 }",
    "flush chain bridge runt-01234567 same",
    "delete chain bridge runt-01234567 same",
  ]);
  const printed = [
    { set: { family: "bridge", name: "watched", elem: [{ elem: { val: "veth1", comment: "runt: g.a.1" } }] } },
    { chain: { family: "bridge", name: "same" } },
    { rule: { chain: "same", comment: `runt: ${digest("return")}` } },
  ];
  expect(changes(TABLE, contentsIn(JSON.stringify({ nftables: printed })), state([frame], theirs))).toEqual([]);
});

test("a task is found by its comment, and the longest id fits into one", () => {
  expect([markOf("g.web.1"), taskIn("runt: g.web.1"), taskIn("runt bridge: rt-1"), taskIn("")]).toEqual([
    ...["runt: g.web.1", "g.web.1", undefined, undefined],
  ]);
  const long = markOf("a".repeat(140));
  expect([long.length <= 127, long !== markOf(`${"a".repeat(139)}b`), taskIn(long)]).toEqual([true, true, undefined]);
  expect(together([state([element("a")]), state([element("b")])]).elements.map(({ key }) => key)).toEqual(["a", "b"]);
});
