import { expect, test } from "vitest";
import { checkGroup, checkTask, taskSchema } from "../index.ts";

const container = (fields = {}) => ({ name: "a", rootfs: "/r", command: "x", ...fields });
const after = [{ container: "db/a", restart: true }];
const web = (fields = {}, dependsOn: unknown = after) =>
  taskSchema.parse({ name: "web", joins: { pid: "db" }, containers: [container({ dependsOn })], ...fields });
const db = (fields = {}) => taskSchema.parse({ name: "db", namespaces: { pid: "shared" }, containers: [container()], ...fields });

test("a task uses a namespace of another one that shares it", () => {
  expect(checkTask(web())).toEqual([]);
  expect(checkGroup([web(), db()])).toEqual([]);
});

test.each([
  ["without a dependency", web({}, []), "needs a dependency on a container of db, with restart"],
  [
    "with a dependency that is not restarted with it",
    web({}, [{ container: "db/a" }]),
    "needs a dependency on a container of db, with restart",
  ],
  ["beside a mode of its own", web({ namespaces: { pid: "host" } }), "it cannot be shared, or that of the host"],
  ["with users of its own", web({ privateUsers: true, containers: [{ name: "a", image: "oci:/i", dependsOn: after }] }), "privateUsers"],
])("%s it is refused", (_, spec, message) => {
  expect(checkTask(spec).map((one) => one.message)).toContainEqual(expect.stringContaining(message));
});

test("in a virtual machine there are no namespaces of other tasks", () => {
  expect(checkTask(web({ runtime: "vm" }), ["vm"]).map(({ path }) => path.join("/"))).toEqual(["joins/pid"]);
});

test.each([
  ["no such task", [web()], "there is no task db"],
  ["a task that does not share it", [web(), db({ namespaces: {} })], "task db does not share it: write namespaces.pid: shared there"],
  [
    "a task with users of its own",
    [web(), db({ privateUsers: true, containers: [{ name: "a", image: "oci:/i" }] })],
    "db has users of its own",
  ],
] as const)("%s is refused", (_, tasks, message) => {
  expect(checkGroup(tasks)).toContainEqual({ task: 0, code: "unknown-reference", message, path: ["joins", "pid"] });
});
