import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import { reason } from "./reason.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const running = () => {
  const container = { rootfs: "/r", command: "x" };
  const told = { ...container, name: "told", preStop: { command: ["tell"], timeout: "3s" } };
  const spec = taskSchema.parse({ name: "t", containers: [told, { ...container, name: "other" }] });
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  world.send({ type: "admitted", at });
  while (world.pending.length > 0) world.finish(0, "ok");
  expect(world.record.known).toBe("RUNNING");
  return world;
};
const stop = (world: World) => world.send({ type: "stop", at, reason: reason("StoppedByUser", "enough") });
const types = (world: World) => world.pending.map(({ type }) => type);

test("E74: it is told before any signal of its task, and once", () => {
  const world = running();
  stop(world);
  expect(world.pending).toEqual([expect.objectContaining({ type: "preStop", container: "told", command: ["tell"], timeoutMs: 3000 })]);
  world.finish(0, "failed");
  expect(types(world)).toEqual(["stop", "stop"]);
});

test("E74: one that was in flight when the daemon died is not told again", () => {
  const world = running();
  stop(world);
  world.crash(() => false);
  expect(types(world)).toEqual(["stop", "stop"]);
});

test("E74: one that has ended is not told; a new incarnation is", () => {
  const world = running();
  world.send({ type: "restart", at, containers: ["told"] });
  expect(types(world)).toEqual(["preStop"]);
  world.finish(0, "ok");
  while (world.pending.length > 0) world.finish(0, "ok");
  expect(world.record.containers[0]).toMatchObject({ generation: 2, known: "RUNNING", preStop: "waiting" });
  world.exit("told", 1, true);
  expect(types(world)).toEqual(["stop"]);
});
