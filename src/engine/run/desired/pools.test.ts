import { expect, test } from "vitest";
import { DEFAULT_USERS, type PoolRecord, UserRanges } from "../../model/index.ts";
import { parseTasks } from "../../spec/index.ts";
import { isUsable, poolRow, poolsIn } from "./codec.ts";
import { planPools } from "./pools.ts";

const specOf = (name: string, size = 1) => parseTasks(JSON.stringify({ kind: "Pool", name, rootfs: "/r", size })).pools![0]!;
let count = 0;
const plan = (specs: Parameters<typeof planPools>[0], pools: readonly PoolRecord[] = [], options: Parameters<typeof planPools>[3] = {}) =>
  planPools(specs, "g", { pools, ranges: new UserRanges(pools, DEFAULT_USERS), newId: (name) => `g.${name}.${++count}`, atMs: 5 }, options);
const changes = ({ applied }: ReturnType<typeof plan>) => applied.map(({ name, change, kind }) => `${kind} ${name} ${change}`);

test("pools are created with ids of their own, stay as they are, and are replaced by another spec", () => {
  const first = plan([specOf("a"), specOf("b")], [], { from: "/f" });
  expect(changes(first)).toEqual(["pool a created", "pool b created"]);
  expect(new Set(first.added.map(({ users }) => users.first)).size).toBe(2);
  const same = plan([specOf("a")], first.added, { from: "/f" });
  expect([changes(same), same.added, same.ended]).toEqual([["pool a unchanged", "pool b absent"], [], []]);
  const next = plan([specOf("a", 2)], first.added, { prune: true, from: "/f" });
  expect(changes(next)).toEqual(["pool a replaced", "pool b removed"]);
  expect(next.ended.map(({ name }) => name)).toEqual(["a", "b"]);
  const ended = next.ended.map((one) => ({ ...one, ending: "drain" as const }));
  expect(next.added[0]!.users.first).not.toBe(first.added[0]!.users.first);
  expect(changes(plan([specOf("a", 2)], [...ended, ...next.added]))).toEqual(["pool a unchanged"]);
});

test("another file adopts a pool, and a full range of ids is said", () => {
  const { added } = plan([specOf("a")], [], { from: "/f" });
  expect(plan([specOf("a")], added, { from: "/other" }).adopted).toMatchObject([{ from: "/other" }]);
  const none = { pools: [], ranges: new UserRanges([], { first: 0x7000_0000, count: 1000 }), newId: () => "x", atMs: 0 };
  expect(() => planPools([specOf("a")], "g", none, {})).toThrow(/no range of users is free/);
});

test("a record comes back from the store, and one that was changed by hand is none", () => {
  const [record] = plan([specOf("a")]).added;
  const row = poolRow(record!);
  expect([isUsable(row), poolsIn([row]).get(record!.id)]).toEqual([true, record]);
  for (const change of [{ version: 2 }, { id: "../x" }, { group: "other" }, { spec: {} }, { users: {} }])
    expect(isUsable({ ...row, content: JSON.stringify({ ...record, ...change }) })).toBe(false);
});
