import { expect, test } from "vitest";
import { DEFAULT_USERS, newRecord } from "../../model/index.ts";
import { type TaskSpec, taskSchema } from "../../spec/index.ts";
import { differenceOf, followersOf, type Present } from "./apply.ts";
import { fieldDifferences } from "./differences.ts";

const spec = (name: string, dependsOn: object[] = []): TaskSpec =>
  taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x", dependsOn }] });
const on = (name: string, restart?: boolean) => ({ container: `${name}/c`, ...(restart === undefined ? {} : { restart }) });

test("those go on with what they are to be restarted with, one behind the other, and no others", () => {
  const specs = [
    spec("proxy", [on("web", true)]),
    spec("web", [on("db", true)]),
    spec("report", [on("db")]),
    spec("mail", [on("db", false)]),
  ];
  expect([...followersOf(new Set(["db"]), specs)].sort()).toEqual(["proxy", "web"]);
  expect([...followersOf(new Set(["nobody"]), specs)]).toEqual([]);
});

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const specOf = (name: string, container: Record<string, unknown> = {}) =>
  taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x", ...container }] });
const taskOf = (name: string) => newRecord({ id: `g.${name}.1`, group: "g", spec: specOf(name, { memory: 1 }), cgroup: null, at });

test("the plan of a file says what apply would do, and which fields are different", () => {
  const present: Present = {
    tasks: ["same", "limit", "other", "gone"].map(taskOf),
    succeeded: [],
    capacity: { cpus: 1, memoryBytes: 1000 },
    revision: 1,
    at,
    users: DEFAULT_USERS,
    cgroupOf: () => null,
    projectOf: () => undefined,
  };
  const specs = [
    specOf("same", { memory: 1 }),
    specOf("limit", { memory: 2 }),
    specOf("other", { memory: 1, command: "y" }),
    specOf("new"),
  ];
  const differences = differenceOf(specs, "g", present, {});
  expect(differences).toEqual([
    { name: "same", change: "unchanged", fields: [] },
    { name: "limit", change: "updated", fields: [{ pointer: "/containers/0/memory", before: 1, after: 2 }] },
    { name: "other", change: "replaced", fields: [{ pointer: "/containers/0/command", before: "x", after: "y" }] },
    { name: "new", change: "created", fields: [] },
    { name: "gone", change: "absent", fields: [] },
  ]);
  expect(differenceOf(specs, "g", present, { prune: true }).at(-1)).toEqual({ name: "gone", change: "removed", fields: [] });
});

test("a network that has to be there is one in which a task is, and no other file than that which makes it is asked for more", () => {
  const shared = (name: string) => taskSchema.parse({ ...specOf("web"), network: { name: "back", further: [{ name, shared: true }] } });
  const task = newRecord({ id: "other.web.1", group: "other", spec: shared("proxy"), cgroup: null, at });
  const present = (tasks: Present["tasks"]): Present => ({
    ...{ tasks, succeeded: [], capacity: { cpus: 1, memoryBytes: 1000 }, revision: 1, at, users: DEFAULT_USERS },
    ...{ cgroupOf: () => null, projectOf: () => undefined },
  });
  const changes = (tasks: Present["tasks"], networks: string[]) =>
    differenceOf([specOf("new")], "g", present(tasks), { networks }).map(({ change }) => change);
  expect(changes([task], ["proxy"])).toEqual(["created"]);
  // One of a group has the same name, and one that is being deleted goes with its network.
  expect(() => changes([task], ["proxy", "back", "nowhere"])).toThrow("there is no network back, nowhere on this host");
  expect(() => changes([{ ...task, isDeleteAsked: true }], ["proxy"])).toThrow("--make-networks");
});

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, [{ pointer: "/a", before: 1, after: 2 }]],
  [{ a: [1, 2] }, { a: [1] }, [{ pointer: "/a/1", before: 2 }]],
  [{ "x/y~": "" }, {}, [{ pointer: "/x~1y~0", before: "" }]],
  [{}, { b: { c: null } }, [{ pointer: "/b", after: { c: null } }]],
  [{ a: [1] }, { a: { 0: 1 } }, [{ pointer: "/a", before: [1], after: { 0: 1 } }]],
])("%j to %j", (before, after, fields) => {
  expect(fieldDifferences(before, after, "")).toEqual(fields);
});
