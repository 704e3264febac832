import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { hasSucceeded, newRecord, renderReason } from "./index.ts";
import { nextDeadline } from "./reconcile.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

function world(containers: readonly object[], fields: object): World {
  const spec = taskSchema.parse({ name: "t", ...fields, containers: containers.map((one) => ({ rootfs: "/r", command: "x", ...one })) });
  const made = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: "/runtd/g.t.1-0", at }), () => {});
  made.send({ type: "admitted", at });
  while (made.pending.length > 0) made.finish(0, "ok");
  return made;
}

test("a task that ends with all goes on after the first essential container, and ends with the last: then others are stopped", () => {
  const one = world([{ name: "a" }, { name: "b" }, { name: "beside", essential: false }], { ends: "all" });
  one.exit("a", 3, true);
  expect(one.record).toMatchObject({ desired: "RUNNING", known: "RUNNING" });
  one.exit("b", 0, true);
  expect(one.record.desired).toBe("STOPPED");
  // If several have ended, one that failed is the reason.
  expect(renderReason(one.record.reason!)).toContain("container a exited with 3");
  while (one.pending.length > 0) one.finish(0, "ok");
  expect(one.record.containers.map(({ known }) => known)).toEqual(["STOPPED", "STOPPED", "STOPPED"]);
});

test("without that, and when the process that holds the namespaces dies, the first end is that of the task", () => {
  const first = world([{ name: "a" }, { name: "b" }], {});
  first.exit("a", 0, true);
  expect(first.record.desired).toBe("STOPPED");
  const held = world([{ name: "a" }, { name: "b" }], { ends: "all", namespaces: { ipc: "shared" } });
  held.exit(held.record.containers.find(({ type }) => type === "namespacePause")!.name, 137, true);
  expect(held.record.desired).toBe("STOPPED");
});

test("a task with a deadline is stopped when it has passed, also after a reboot of the host, and has not succeeded", () => {
  const one = world([{ name: "a" }], { deadline: 60, start: "always" });
  expect(one.record.expires).toEqual({ bootId: "boot-0", bootMs: 60_000, wallMs: 60_000 });
  one.send({ type: "tick", at: { bootId: "boot-0", bootMs: 59_000, wallMs: 59_000 } });
  expect(one.record.desired).toBe("RUNNING");
  expect(nextDeadline(one.record, { bootId: "boot-0", bootMs: 59_000, wallMs: 59_000 })).toMatchObject({ bootMs: 60_000 });
  const booted = { bootId: "boot-1", bootMs: 500, wallMs: 50_000 };
  const later = new World(one.record, () => {});
  later.send({ type: "booted", at: booted, exits: {} }, { type: "admitted", at: booted });
  expect(later.record).toMatchObject({ desired: "RUNNING", expires: { bootId: "boot-1", bootMs: 10_500, wallMs: 60_000 } });
  // The clock was wrong in the earlier boot, by years: the deadline begins anew, and not in years.
  const set = { bootId: "boot-1", bootMs: 500, wallMs: -1e12 };
  const right = new World(one.record, () => {});
  right.send({ type: "booted", at: set, exits: {} }, { type: "admitted", at: set });
  expect(right.record).toMatchObject({ desired: "RUNNING", expires: { bootId: "boot-1", bootMs: 60_500, wallMs: 60_000 - 1e12 } });
  one.send({ type: "tick", at: { bootId: "boot-0", bootMs: 60_000, wallMs: 60_000 } });
  expect(one.record).toMatchObject({ desired: "STOPPED", reason: { code: "DeadlineExceeded" } });
  while (one.pending.length > 0) one.finish(0, "ok");
  one.exit("a", 0, true);
  expect([one.record.known, hasSucceeded(one.record), nextDeadline(one.record, at)]).toMatchObject(["STOPPED", false, {}]);
  expect(one.record.expires).toBeDefined();
});
