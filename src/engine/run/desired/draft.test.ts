import { expect, test } from "vitest";
import { DEFAULT_OPTIONS, newRecord, type PoolRecord, type ServiceRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Draft } from "./draft.ts";

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const recordOf = (name: string, dependsOn: readonly object[] = []) => {
  const spec = taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x", dependsOn }] });
  return newRecord({ id: `g.${name}.1`, group: "g", spec, cgroup: null, at });
};
const success = (name: string) => [`g/${name}`, { group: "g", name, digest: "d", task: `g.${name}.1`, wallMs: 0 }] as const;

/** A draft over a store with the task "old" and two one-shots that have succeeded. */
function draftOf(): Draft {
  const [old, facts] = [recordOf("old"), { epoch: 1, bootId: "b", revision: 1 }];
  const succeeded = new Map([success("once"), success("twice")]);
  const others = { services: new Map([["g/s", {} as ServiceRecord]]), revisions: new Map(), pools: new Map([["g.p.1", {} as PoolRecord]]) };
  return new Draft({ records: new Map([[old.id, old]]), succeeded, ...others, host: { facts } }, DEFAULT_OPTIONS, at);
}

/** All that a turn stores or begins. */
const stateOf = (draft: Draft) => ({
  ...{ touched: [...draft.touched], remembered: [...draft.remembered], orders: [...draft.orders], events: [...draft.events] },
  ...{ services: [...draft.services.changes], revisions: [...draft.revisions.changes], pools: [...draft.pools.changes] },
  ...{ newFacts: draft.newFacts, facts: draft.facts, tasks: draft.all(), succeeded: [...draft.succeeded()] },
});

/** Changes of every kind. */
function change(draft: Draft, name: string): void {
  draft.add(recordOf(name, [{ container: "old/c", condition: "START" }]));
  draft.note(`g.${name}.1`, "apply", { uid: 0, pid: 1 });
  draft.adopt("g.old.1", `/${name}`);
  draft.apply(`g.${name}.1`, { type: "tick", at });
  draft.forget({ group: "g", name: "once" });
  draft.services.set("g/s", undefined);
  draft.revisions.set("g/s/1", { group: "g", service: "s", number: 1, specs: [] });
  draft.pools.set("g.p.1", undefined);
  draft.facts = { ...draft.facts, watched: { ...draft.facts.watched, [name]: { group: "g", digest: "d" } } };
  draft.tell({ type: "packetFilter", message: name });
}

test("of a change that throws nothing remains, what was changed before it stays, and what comes after it counts", () => {
  const draft = draftOf();
  draft.attempt(() => change(draft, "first"));
  const before = stateOf(draft);
  expect(before.touched.map(([id]) => id)).toEqual(["g.first.1", "g.old.1"]);
  const refused = () => {
    change(draft, "refused");
    draft.forget({ group: "g", name: "twice" });
    draft.remove("g.old.1");
    throw new Error("no room");
  };
  expect(() => draft.attempt(refused)).toThrow("no room");
  expect(stateOf(draft)).toEqual(before);
  draft.attempt(() => change(draft, "last"));
  draft.settle();
  expect([...draft.touched.keys()]).toEqual(["g.first.1", "g.old.1", "g.last.1"]);
  expect(Object.keys(draft.newFacts?.watched ?? {})).toEqual(["first", "last"]);
});
