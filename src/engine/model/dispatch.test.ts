import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { newRecord } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

/** Two containers and a volume, ended and to be deleted: the removals are pending. */
function ended(): World {
  const containers = ["a", "b"].map((name) => ({ name, rootfs: "/r", command: "x" }));
  const spec = taskSchema.parse({ name: "t", volumes: [{ name: "v" }], containers });
  const made = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: "/runtd/g.t.1-0", at }), () => {});
  made.send({ type: "admitted", at });
  while (made.pending.length > 0) made.finish(0, "ok");
  made.send({ type: "delete", at });
  while (made.pending.some(({ type }) => type === "stop")) made.finish(0, "ok");
  return made;
}

const pending = (one: World) => one.pending.map((action) => ("container" in action ? `${action.type} ${action.container}` : action.type));

test("E79 a container that cannot be removed does not keep the others, is tried again, and waits longer each time", () => {
  const one = ended();
  expect(pending(one)).toEqual(["remove a", "remove b"]);
  one.finish(0, "failed");
  one.finish(0, "ok");
  expect([one.incarnations.size, pending(one)]).toEqual([1, []]);
  const waits: number[] = [];
  for (const outcome of ["failed", "failed", "ok"] as const) {
    const before = one.bootMs;
    expect(one.wait()).toBe(true);
    waits.push(one.bootMs - before);
    expect(pending(one)).toEqual(["remove a"]);
    one.finish(0, outcome);
  }
  expect(waits[0]).toBeGreaterThan(0);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(new Set(waits).size).toBe(3);
  while (one.pending.length > 0) one.finish(0, "ok");
  expect([one.incarnations.size, one.resources.size, one.isForgotten]).toEqual([0, 0, true]);
});

test("E79 a resource that cannot be removed does not keep the others, and the task is forgotten only without it", () => {
  const one = ended();
  while (pending(one).some((action) => action.startsWith("remove "))) one.finish(0, "ok");
  expect(pending(one)).toEqual(["removeResource", "removeResource"]);
  one.finish(0, "failed");
  one.finish(0, "ok");
  expect([one.resources.size, one.isForgotten, pending(one)]).toEqual([1, false, []]);
  expect(one.wait()).toBe(true);
  expect(pending(one)).toEqual(["removeResource"]);
  one.finish(0, "ok");
  expect([one.resources.size, one.isForgotten]).toEqual([0, true]);
});
