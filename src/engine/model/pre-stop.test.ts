import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { type TaskInput, taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import { reason } from "./reason.ts";

type ContainerInput = TaskInput["containers"][number];

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const running = (fields: Partial<ContainerInput> = {}) => {
  const container = { rootfs: "/r", command: "x" };
  const told = { ...container, name: "told", preStop: { command: ["tell"], timeout: "3s" }, ...fields };
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
  expect(world.pending).toEqual([
    expect.objectContaining({ type: "preStop", container: "told", hook: { command: ["tell"], timeout: 3000 } }),
  ]);
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

const later = (seconds: number) => ({ bootId: "boot-0", bootMs: seconds * 1000, wallMs: seconds * 1000 });
const timesOf = (world: World) => world.pending.map((action) => (action.type === "stop" ? [action.container, action.timeoutMs] : []));

test("E74: what it takes can be a part of the time to stop, of which two seconds are left", () => {
  const ends = (took: number) => {
    const world = running({ preStop: { sleep: "6s", withinStopTimeout: true }, stopTimeout: "7s" });
    stop(world);
    expect(world.pending).toEqual([
      expect.objectContaining({ type: "preStop", hook: expect.objectContaining({ sleep: 6000, timeout: 7000 }) }),
    ]);
    world.send({ type: "preStopped", at: later(took), container: "told", generation: 1 });
    return timesOf(world).find(([name]) => name === "told");
  };
  expect(ends(4)).toEqual(["told", 3000]);
  expect(ends(6)).toEqual(["told", 2000]);
  const apart = running({ preStop: { sleep: "6s" }, stopTimeout: "7s" });
  stop(apart);
  apart.send({ type: "preStopped", at: later(6), container: "told", generation: 1 });
  expect(timesOf(apart)).toContainEqual(["told", 7000]);
});

test("E74: one that the death of the daemon has cut off has taken the time until then", () => {
  const world = running({ preStop: { sleep: "60s", withinStopTimeout: true }, stopTimeout: "20s" });
  stop(world);
  world.bootMs = 15_000;
  world.crash(() => false);
  expect(timesOf(world)).toContainEqual(["told", 5000]);
});

test("E74: a container that has failed a check has the time to stop of that check, for its hook, too; one that is stopped has its own", () => {
  const check = { command: ["ok"], retries: 1 };
  const fields = { stopTimeout: "20s", preStop: { command: ["tell"], withinStopTimeout: true } };
  const failed = running({ ...fields, livenessCheck: { ...check, stopTimeout: "3s" }, restart: {} });
  failed.bootMs = 60_000;
  failed.send({ type: "tick", at: failed.now });
  expect(types(failed)).toEqual(["checkHealth"]);
  failed.finish(0, "failed");
  expect(failed.pending).toEqual([expect.objectContaining({ type: "preStop", hook: expect.objectContaining({ timeout: 3000 }) })]);
  failed.finish(0, "ok");
  expect(timesOf(failed)).toEqual([["told", 3000]]);
  const stopped = running({ ...fields, livenessCheck: { ...check, stopTimeout: "3s" } });
  stop(stopped);
  expect(stopped.pending).toContainEqual(expect.objectContaining({ type: "preStop", hook: expect.objectContaining({ timeout: 20_000 }) }));
});
