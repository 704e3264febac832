import fc from "fast-check";
import { expect, it } from "vitest";
import { newRecord, proxyEvent, reason } from "../../../src/engine/model/index.ts";
import { CONDITIONS, type TaskSpec, taskSchema } from "../../../src/engine/spec/index.ts";
import { checkLaws } from "../../support/engine/laws.ts";
import { type Outcome, World } from "../../support/engine/world.ts";
import { runsOf } from "../../support/runs.ts";

const RUNS = Number(process.env["RUNT_TEST_PROPERTY_RUNS"] ?? runsOf(400));

/** A task of one to four containers; each depends on earlier ones only. */
const spec: fc.Arbitrary<TaskSpec> = fc
  .record({
    containers: fc.array(
      fc.record({
        essential: fc.boolean(),
        restart: fc.option(fc.record({ ignoredExitCodes: fc.constantFrom([], [0]), maximumCount: fc.constant(3) }), { nil: undefined }),
        hasCheck: fc.boolean(),
        dependsOn: fc.array(
          fc.record({
            on: fc.nat(3),
            condition: fc.constantFrom(...CONDITIONS),
            timeout: fc.option(fc.constantFrom("1s", "30s"), { nil: undefined }),
          }),
          { maxLength: 2 },
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    isShared: fc.boolean(),
    start: fc.constantFrom("once" as const, "always" as const, "needed" as const),
    hasVolume: fc.boolean(),
    hasNetwork: fc.boolean(),
  })
  .map(({ containers, isShared, start, hasVolume, hasNetwork }) =>
    taskSchema.parse({
      name: "t",
      start,
      namespaces: isShared ? { pid: "shared" } : {},
      ...(hasNetwork ? { network: {} } : {}),
      volumes: hasVolume ? [{ name: "v" }] : [],
      containers: containers.map(({ essential, restart, hasCheck, dependsOn }, index) => ({
        name: `c${index}`,
        rootfs: "/r",
        command: "x",
        essential: essential || index === containers.length - 1,
        ...(restart === undefined ? {} : { restart }),
        ...(hasCheck ? { healthCheck: { command: ["x"] } } : {}),
        dependsOn: dependsOn
          .filter(({ on }) => on < index)
          .map(({ on, condition, timeout }) => ({ container: `c${on}`, condition, ...(timeout === undefined ? {} : { timeout }) })),
      })),
    }),
  );

/** A shared proxy is not needed, or is needed again when nothing of its last run is in flight. */
function needAgain(world: World): void {
  if (world.record.spec.start !== "needed" || world.record.isDeleteAsked) return;
  world.send({ type: "stop", at: world.now, reason: reason("NotNeeded", "no task uses it any more") });
  // Otherwise few of the random walks would come this far.
  while (world.pending.length > 0) world.finish(0, "ok");
  if (proxyEvent(world.record, [world.record], world.now)?.type !== "renew") return;
  world.send({ type: "renew", at: world.now });
  world.send({ type: "admitted", at: world.now });
}

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 6, arbitrary: fc.constant("ok" as const) },
  { weight: 1, arbitrary: fc.constantFrom("failed" as const, "lost" as const, "notDone" as const) },
);
const container = fc.nat(3).map((index) => `c${index}`);
const step: fc.Arbitrary<(world: World) => void> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.tuple(fc.nat(9), outcome).map(([at, how]) => (world: World) => {
      if (world.pending.length > 0) world.finish(at % world.pending.length, how);
    }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(container, fc.constantFrom(0, 1, 137), fc.boolean()).map(
      ([name, code, isSeen]) =>
        (world: World) =>
          world.exit(name, code, isSeen),
    ),
  },
  { weight: 2, arbitrary: fc.nat().map((bits) => (world: World) => world.crash((index) => ((bits >> (index % 16)) & 1) === 1)) },
  { weight: 2, arbitrary: fc.constant((world: World) => void world.wait()) },
  {
    weight: 2,
    arbitrary: fc.nat().map((at) => (world: World) => {
      const old = world.told[at % Math.max(1, world.told.length)];
      if (old !== undefined) world.send({ ...old, at: world.now });
    }),
  },
  { weight: 1, arbitrary: container.map((name) => (world: World) => world.send({ type: "restart", at: world.now, containers: [name] })) },
  { weight: 1, arbitrary: fc.constantFrom(100, 200).map((memory) => (world: World) => world.respec(memory)) },
  { weight: 1, arbitrary: fc.constant((world: World) => world.reboot()) },
  { weight: 2, arbitrary: fc.constant(needAgain) },
  {
    weight: 1,
    arbitrary: fc.constant((world: World) => world.send({ type: "stop", at: world.now, reason: reason("StoppedByUser", "stop") })),
  },
);

function begin(task: TaskSpec): World {
  const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec: task, cgroup: "/runtd/g.t.1-0", at }), checkLaws);
  world.send({ type: "admitted", at });
  return world;
}

/** Everything in flight ends well, and time goes on, until nothing moves or `rounds` are over. */
function settleDown(world: World, rounds: number): void {
  for (let round = 0; round < rounds && !world.isForgotten; round++) {
    while (world.pending.length > 0) world.finish(0, "ok");
    if (!world.wait()) return;
  }
}

it("E79 E80 E87 E88 E89 E90 E92 keeps the laws through failures, crashes and reboots, and leaves nothing after delete", () => {
  fc.assert(
    fc.property(spec, fc.array(step, { maxLength: 60 }), (task, steps) => {
      const world = begin(task);
      for (const one of steps) one(world);
      // A poll tells what was missed; then it is deleted.
      world.crash(() => true);
      world.send({ type: "delete", at: world.now });
      settleDown(world, 50);
      expect(world.isForgotten).toBe(true);
      expect([...world.incarnations.keys()]).toEqual([]);
      expect([...world.resources]).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

it("E91 E93 E94 comes to rest: what is left has started, has ended, or waits for something that still lives", () => {
  fc.assert(
    fc.property(spec, (task) => {
      const world = begin(task);
      settleDown(world, 20);
      for (const { name, known } of world.record.containers) {
        if (known === "RUNNING" || known === "STOPPED") continue;
        const targets = task.containers.find((one) => one.name === name)!.dependsOn.map((one) => one.container);
        const alive = targets.filter((one) => world.record.containers.some((each) => each.name === one && each.known !== "STOPPED"));
        expect(alive, `${name} is ${known}`).not.toEqual([]);
      }
    }),
    { numRuns: RUNS },
  );
});

it("what runs has the limits that were applied last, once everything has come to rest", () => {
  fc.assert(
    fc.property(spec, fc.array(step, { maxLength: 40 }), (task, steps) => {
      const world = begin(task);
      for (const one of steps) one(world);
      world.respec(300);
      world.crash((index) => index % 2 === 0);
      settleDown(world, 50);
      for (const { known, desired, runtimeId, type } of world.record.containers) {
        if (type === "normal" && world.record.desired === "RUNNING" && desired === "RUNNING" && known === "RUNNING")
          expect(world.limits.get(runtimeId)).toBe(300);
      }
    }),
    { numRuns: RUNS },
  );
});
