import { expect, test } from "vitest";
import { DEFAULT_USERS, newRecord } from "../../model/index.ts";
import { earlierDigest, specDigest, type TaskSpec, taskSchema } from "../../spec/index.ts";
import { differenceOf, followersOf, type Present, planApply } from "./apply.ts";
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
    isKept: () => false,
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

test("R12 replicas that an applied file makes again get the images that their service keeps", () => {
  const reference = "docker://registry.invalid/a:1";
  const containers = [{ name: "c", image: reference, command: "x" }];
  const replica = (index: number) => taskSchema.parse({ name: `web-${index}`, containers, replica: { of: "web", index }, update: {} });
  const image = { reference, digest: "d", manifest: "m", config: null, via: "cache", stopSignal: null, healthCheck: null } as const;
  const asked: string[][] = [];
  const present: Present = {
    ...{ tasks: [], succeeded: [], capacity: { cpus: 1, memoryBytes: 1000 }, revision: 1, at, users: DEFAULT_USERS },
    ...{ cgroupOf: () => null, isKept: () => false, projectOf: () => undefined },
    imagesKept: ({ name }, specs) => {
      asked.push([name, ...specs.map((one) => one.name)]);
      return { [reference]: image };
    },
  };
  const { steps } = planApply([replica(1), replica(2), taskSchema.parse({ name: "alone", containers })], "g", present);
  const made = steps.flatMap((step) => (step.type === "add" ? [step.record.containers[0]?.image] : []));
  expect(made).toEqual([image, image, null]);
  expect(steps.find(({ type }) => type === "roll")).toMatchObject({ images: { [reference]: image } });
  expect(asked[0]).toEqual(["web", "web-1", "web-2"]);
});

test("a network that has to be there is one in which a task is, and no other file than that which makes it is asked for more", () => {
  const shared = (name: string) => taskSchema.parse({ ...specOf("web"), network: { name: "back", further: [{ name, shared: true }] } });
  const task = newRecord({ id: "other.web.1", group: "other", spec: shared("proxy"), cgroup: null, at });
  const present = (tasks: Present["tasks"]): Present => ({
    ...{ tasks, succeeded: [], capacity: { cpus: 1, memoryBytes: 1000 }, revision: 1, at, users: DEFAULT_USERS },
    ...{ cgroupOf: () => null, isKept: () => false, projectOf: () => undefined },
  });
  const changes = (tasks: Present["tasks"], networks: string[]) =>
    differenceOf([specOf("new")], "g", present(tasks), { networks }).map(({ change }) => change);
  expect(changes([task], ["proxy"])).toEqual(["created"]);
  // One of a group has the same name, and one that is being deleted goes with its network.
  expect(() => changes([task], ["proxy", "back", "nowhere"])).toThrow("there is no network back, nowhere on this host");
  expect(() => changes([{ ...task, isDeleteAsked: true }], ["proxy"])).toThrow("--make-networks");
});

test("a volume that has to be there is on the disk, or a task of the file or of the group makes it", () => {
  const withVolume = (name: string, existing?: true) => {
    const volume = { name: "v", kept: "data", ...(existing === undefined ? {} : { existing }) };
    return taskSchema.parse({ ...specOf(name), volumes: [volume] });
  };
  const db = newRecord({ id: "g.db.1", group: "g", spec: withVolume("db"), cgroup: null, at });
  const apply = (specs: Parameters<typeof planApply>[0], tasks: Present["tasks"] = [], isKept: Present["isKept"] = () => false) =>
    planApply(specs, "g", {
      ...{ tasks, succeeded: [], capacity: { cpus: 1, memoryBytes: 1000 }, revision: 1, at, users: DEFAULT_USERS },
      ...{ cgroupOf: () => null, isKept, projectOf: () => undefined },
    }).applied.length;
  const app = withVolume("app", true);
  expect(apply([app], [], (group, name) => group === "g" && name === "data")).toBe(1);
  expect(apply([app, withVolume("db")])).toBe(2);
  expect(apply([app], [db])).toBe(2);
  for (const others of [[], [{ ...db, isDeleteAsked: true }], [{ ...db, group: "other" }]])
    expect(() => apply([app], others)).toThrow("group g has no volume data");
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

test("a job that has succeeded under a version that gave pods no network does not run once more", () => {
  const spec = taskSchema.parse({
    ...{ name: "once", start: "once", network: { fallback: "none" } },
    namespaces: { ipc: "shared", network: "private" },
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
  });
  const present = (digest: string): Present => ({
    ...{ tasks: [], succeeded: [{ group: "g", name: "once", digest, task: "g.once.1", wallMs: 0 }] },
    ...{
      capacity: { cpus: 1, memoryBytes: 1000 },
      revision: 1,
      at,
      users: DEFAULT_USERS,
      cgroupOf: () => null,
      isKept: () => false,
      projectOf: () => undefined,
    },
  });
  const changes = (digest: string) => planApply([spec], "g", present(digest)).applied.map(({ change }) => change);
  expect(changes(specDigest(spec))).toEqual(["succeeded"]);
  expect(changes(earlierDigest(spec)!)).toEqual(["succeeded"]);
  expect(changes("sha256:other")).toEqual(["created"]);
});
