import { expect, test } from "vitest";
import { containerOf } from "./attach.ts";

const holder = { name: "runtd/pause", type: "namespacePause" } as const;
const web = { name: "web", type: "normal" } as const;
const db = { name: "db", type: "normal" } as const;

test("without a name it is the only one of the task file, also beside the holder of shared namespaces", () => {
  expect(containerOf({ name: "t", containers: [holder, web] })).toBe(web);
});

test("of several one has to be named, and the error names those of the task file", () => {
  expect(() => containerOf({ name: "t", containers: [holder, web, db] })).toThrow("task t has more than one container: web, db");
  expect(() => containerOf({ name: "t", containers: [holder, web, db] }, "app")).toThrow("task t has no container app: web, db");
  expect(containerOf({ name: "t", containers: [holder, web, db] }, "db")).toBe(db);
});

test("of several it is the one that the annotation of the task names, unless one is named", () => {
  const task = (name: string) => ({
    name: "t",
    containers: [holder, web, db],
    spec: { annotations: { "kubectl.kubernetes.io/default-container": name } },
  });
  expect(containerOf(task("db"))).toBe(db);
  expect(containerOf(task("db"), "web")).toBe(web);
  expect(() => containerOf(task("app"))).toThrow("task t has no container app: web, db");
});

test("of several it is the only one that is essential: neither an init container of a pod nor a sidecar", () => {
  const init = { name: "init", type: "normal" } as const;
  const task = (...essential: readonly string[]) => ({
    name: "t",
    containers: [holder, init, web, db],
    spec: { containers: ["init", "web", "db"].map((name) => ({ name, essential: essential.includes(name) })) },
  });
  expect(containerOf(task("web"))).toBe(web);
  expect(containerOf(task("web"), "init")).toBe(init);
  expect(() => containerOf(task("web", "db"))).toThrow("task t has more than one container: init, web, db");
});
