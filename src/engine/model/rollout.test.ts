import { expect, test } from "vitest";
import { BROKEN, commandOf, RolloutWorld, specsOf, startedWorld } from "../../../test/support/engine/rollout-world.ts";
import { renderReason } from "./reason.ts";
import { pauseRollout, resumeRollout, watchedAgain } from "./rollout.ts";
import { lastGood, unprovenTasks } from "./service.ts";

const ORDERS = [
  { order: "start-first" },
  { order: "stop-first" },
  { order: "stop-first", parallelism: 2 },
  { order: "start-first", parallelism: 0 },
];

test.each(ORDERS)("R1 an update reaches every replica, with no fewer ready than promised (%o)", (update) => {
  const world = startedWorld(3, update);
  world.apply(specsOf(2, 3, update));
  const least = update.order === "start-first" ? 3 : 3 - (update.parallelism ?? 1);
  world.settle(() => world.promise(least, "update"));
  expect(world.service!.rollout).toMatchObject({ kind: "update", state: "complete", to: 2 });
  expect(world.commands()).toEqual(["v2", "v2", "v2"]);
});

test.each(BROKEN)("R2 a broken version goes back to the last good one, and says why (it %s)", (fate) => {
  for (const update of ORDERS) {
    const world = startedWorld(3, update);
    world.fates.set("v2", fate);
    world.apply(specsOf(2, 3, update));
    const least = update.order === "start-first" ? 3 : 3 - (update.parallelism ?? 1);
    world.settle(() => world.promise(least, fate));
    expect(world.service!.rollout).toMatchObject({ kind: "rollback", state: "complete", to: 1, failed: 2 });
    expect(world.service!.revisions).toMatchObject([{ verdict: "good" }, { verdict: "failed" }]);
    expect(renderReason(world.service!.revisions[1]!.reason!)).toMatch(/^revision 2 of web has failed: .* <- replica web-\d /);
    expect(world.commands()).toEqual(["v1", "v1", "v1"]);
  }
});

test("R3 a pause, a higher ratio, and no good version: no way back by itself", () => {
  const paused = startedWorld(3, { onFailure: "pause" });
  paused.fates.set("v2", "crashes");
  paused.apply(specsOf(2, 3, { onFailure: "pause" }));
  paused.settle();
  expect(paused.service!.rollout).toMatchObject({ state: "paused", to: 2 });
  expect(paused.commands().sort()).toEqual(["v1", "v1", "v2"]);
  // It is tried again when the cause is gone.
  paused.fates.delete("v2");
  paused.service = resumeRollout(paused.service!, paused.now);
  paused.advance();
  paused.settle();
  expect(paused.service!.rollout.state).toBe("complete");
  expect(paused.commands()).toEqual(["v2", "v2", "v2"]);

  const first = new RolloutWorld();
  first.fates.set("v1", "wrong image");
  first.apply(specsOf(1, 2, {}));
  first.settle();
  expect(first.service!.rollout).toMatchObject({ kind: "create", state: "failed" });
  first.fates.set("v2", "crashes");
  first.apply(specsOf(2, 2, {}));
  first.settle();
  expect(first.service!.rollout).toMatchObject({ state: "paused" });
  expect(renderReason(first.service!.rollout.reason!)).toMatch(/^no earlier version was good/);
});

test("R4 a reboot in the middle of an update returns to the last good version", () => {
  const world = startedWorld(3, { order: "start-first" });
  world.apply(specsOf(2, 3, { order: "start-first" }));
  for (const task of world.tasks) world.step(task);
  world.advance();
  world.bootId = "c";
  world.advance();
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "rollback", state: "complete", to: 1 });
  expect(renderReason(world.service!.rollout.reason!)).toContain("the host was rebooted");
  expect(world.commands()).toEqual(["v1", "v1", "v1"]);
});

test("R5 by ordinal from the last one, a partition stays, and a restart by a user is no failure", () => {
  const update = { reverse: true, partition: 1 };
  const world = startedWorld(3, update);
  world.apply(specsOf(2, 3, update));
  world.settle();
  expect(world.told.filter(({ state }) => state === "replacing").map(({ replica }) => replica)).toEqual(["web-2", "web-1"]);
  expect(world.commands().sort()).toEqual(["v1", "v2", "v2"]);
  const asked = startedWorld(1, {});
  asked.apply(specsOf(2, 1, {}));
  for (const task of asked.tasks) asked.step(task);
  const task = asked.tasks.at(-1)!;
  asked.change(task.id, { containers: task.containers.map((one) => ({ ...one, restarts: 1, askedRestarts: 1 })) });
  asked.settle();
  expect(asked.service!.rollout).toMatchObject({ kind: "update", state: "complete" });
});

test("R6 a new replica is unproven until it has worked for minReady, and the time without a daemon proves nothing", () => {
  const update = { order: "start-first", parallelism: 0, minReady: "2s" };
  const world = startedWorld(2, update);
  const unproven = () => unprovenTasks(world.service!, world.versions.get(world.service!.rollout.to));
  expect(unproven()).toEqual([]);
  world.apply(specsOf(2, 2, update));
  for (const task of world.tasks) world.step(task);
  world.advance();
  expect(unproven()).toHaveLength(2);
  world.bootMs += 1900;
  // Another daemon has started.
  world.service = watchedAgain(world.service!, world.now);
  world.bootMs += 1900;
  world.advance();
  expect(unproven()).toHaveLength(2);
  world.bootMs += 200;
  world.advance();
  expect(unproven()).toEqual([]);
  expect(world.service!.rollout.replicas.map(({ state }) => state)).toEqual(["watched", "watched"]);
  const stopFirst = startedWorld(2, { minReady: "2s" });
  stopFirst.apply(specsOf(2, 2, { minReady: "2s" }));
  expect(unprovenTasks(stopFirst.service!, stopFirst.versions.get(2))).toEqual([]);
});

const SLOWLY = { order: "start-first", minReady: "10s" };
const served = (world: RolloutWorld) => world.serving.map(commandOf).sort();
const states = (world: RolloutWorld) => world.service!.rollout.replicas.map(({ state }) => state);

/** Version 2 works for so long beside the one before. */
function updatedFor(ms: number, update: object = SLOWLY): RolloutWorld {
  const world = startedWorld(1, update);
  world.apply(specsOf(2, 1, update));
  world.stepAll();
  world.bootMs += ms;
  world.advance();
  return world;
}

test.each([1000, 10_500])(
  "R6 a further version meanwhile: the replica goes on that has proven itself, and the newer one goes (after %d ms)",
  (ms) => {
    const world = updatedFor(ms);
    world.apply(specsOf(3, 1, SLOWLY));
    expect(world.commands().sort()).toEqual(["v1", "v3"]);
    world.stepAll();
    world.stepAll();
    expect(served(world)).toEqual(["v1"]);
    world.settle();
    expect(world.commands()).toEqual(["v3"]);
  },
);

test("R6 what is wanted by the next version, too, is observed further beside the replica that serves, and is no better than before", () => {
  const world = updatedFor(1000);
  const [before] = world.service!.rollout.replicas;
  // Only how it is replaced is different.
  world.apply(specsOf(2, 1, { ...SLOWLY, delay: "1s" }));
  expect(world.service!.rollout.replicas).toEqual([before]);
  expect(world.commands().sort()).toEqual(["v1", "v2"]);
  expect(served(world)).toEqual(["v1"]);
  world.fates.set("v2", "crashes");
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "rollback", state: "complete" });
  expect(world.commands()).toEqual(["v1"]);
});

test("R6 a replica that has failed and works again gets no connections, and is not what goes on", () => {
  const update = { ...SLOWLY, onFailure: "pause" };
  for (const next of ["apply", "resume"] as const) {
    const world = updatedFor(1000, update);
    world.fates.set("v2", "crashes late");
    world.settle();
    expect(world.service!.rollout.state).toBe("paused");
    world.fates.delete("v2");
    world.stepAll();
    expect(states(world)).toEqual(["failed"]);
    expect(served(world)).toEqual(["v1"]);
    const failed = world.tasks.find((one) => commandOf(one) === "v2")!;
    if (next === "resume") world.service = resumeRollout(world.service!, world.now);
    else world.apply(specsOf(2, 1, update));
    world.advance();
    expect(states(world)).toEqual(["starting"]);
    expect(world.tasks.find(({ id }) => id === failed.id)).toMatchObject({ isDeleteAsked: true });
    expect(served(world)).toEqual(["v1"]);
    world.settle();
    expect(world.commands()).toEqual(["v2"]);
  }
});

test("R6 stop-first: a replica of a version in between is observed when that version is wanted again", () => {
  const update = { order: "stop-first", reverse: true };
  const world = startedWorld(2, { order: "stop-first" });
  world.apply(specsOf(2, 2, { order: "stop-first" }));
  world.stepAll();
  world.stepAll();
  expect(states(world)).toEqual(["watched", "waiting"]);
  world.apply(specsOf(3, 2, update));
  expect(states(world)).toEqual(["waiting", "starting"]);
  world.apply(specsOf(2, 2, update));
  expect(states(world)[0]).toBe("watched");
});

test("R5 a return to the last good version also reaches the replicas that its partition leaves out", () => {
  const world = startedWorld(3, { partition: 3 });
  world.fates.set("v2", "crashes late");
  world.apply(specsOf(2, 3, { parallelism: 2 }));
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "rollback", state: "complete", to: 1 });
  expect(world.commands()).toEqual(["v1", "v1", "v1"]);
});

test("R5 a return leaves replicas below the partition as they are if the version that has failed has not reached them", () => {
  const update = { partition: 2 };
  const world = startedWorld(3, {});
  world.apply(specsOf(2, 3, update));
  world.settle();
  expect(states(world)).toEqual(["left", "left", "good"]);
  expect(world.service!.revisions.at(-1)).toMatchObject({ number: 2, verdict: "good" });
  world.fates.set("v3", "crashes");
  world.apply(specsOf(3, 3, update));
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "rollback", state: "complete", to: 2 });
  expect(world.commands().sort()).toEqual(["v1", "v1", "v2"]);
});

test("R5 a version that the partition keeps from all replicas is not called good", () => {
  const world = startedWorld(2, {});
  world.apply(specsOf(2, 2, { partition: 2 }));
  world.settle();
  expect(world.service!.rollout).toMatchObject({ state: "complete", to: 2 });
  expect(states(world)).toEqual(["left", "left"]);
  expect(world.service!.revisions).toMatchObject([{ verdict: "good" }, { verdict: "unknown" }]);
  expect(lastGood(world.service!)).toBe(1);
});

test("R7 with another number of replicas a rollout that goes on goes on, and one that is paused stays paused", () => {
  const world = startedWorld(3, { order: "start-first" });
  world.apply(specsOf(2, 3, { order: "start-first" }));
  world.stepAll();
  const first = states(world);
  expect(first).toEqual(["watched", "waiting", "waiting"]);
  world.scale(specsOf(2, 4, { order: "start-first" }));
  expect(states(world)).toEqual([...first, "starting"]);
  world.service = pauseRollout(world.service!);
  world.scale(specsOf(2, 5, { order: "start-first" }), specsOf(1, 5, {}));
  expect(world.service!.rollout).toMatchObject({ kind: "update", to: 4, from: 1, state: "paused" });
  expect(states(world)).toEqual([...first, "starting", "waiting"]);
  expect(world.commands().sort()).toEqual(["v1", "v1", "v1", "v1", "v2", "v2"]);
  world.scale(specsOf(2, 2, { order: "start-first" }));
  expect(states(world)).toEqual(first.slice(0, 2));
  world.service = resumeRollout(world.service!, world.now);
  world.settle();
  expect(world.service!.rollout.state).toBe("complete");
  expect(world.commands()).toEqual(["v2", "v2"]);
});
