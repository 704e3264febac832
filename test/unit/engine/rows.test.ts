/** Numbers of docs/engine/behaviour.md that one decision or two show. */
import { expect, test } from "vitest";
import { type Change, changesBetween } from "../../../src/engine/model/changes.ts";
import { newRecord, reason, type TaskRecord } from "../../../src/engine/model/index.ts";
import { taskSchema } from "../../../src/engine/spec/index.ts";
import { exitOf, World } from "../../support/engine/world.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const STOP_TRIES = 5;

/** A task of two containers, let in, and what subscribers have been told of it. */
function begin(): { readonly world: World; readonly told: Change[] } {
  const common = { rootfs: "/r", command: "x" };
  const spec = taskSchema.parse({
    name: "t",
    containers: [
      { name: "a", ...common },
      { name: "b", ...common },
    ],
  });
  const told: Change[] = [];
  const watch = (before: TaskRecord, { record }: { readonly record: TaskRecord }) =>
    void told.push(...changesBetween(before, record, STOP_TRIES));
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), watch);
  world.send({ type: "admitted", at });
  return { world, told };
}

const of = (world: World, name: string) => world.record.containers.find((one) => one.name === name)!;
const stop = (world: World) => world.send({ type: "stop", at, reason: reason("StoppedByUser", "stopped") });

function settle(world: World): void {
  while (world.pending.length > 0) world.finish(0, "ok");
}

test("E34 a hundred stops are one, and nothing takes them back", () => {
  const { world } = begin();
  settle(world);
  for (let count = 0; count < 100; count++) stop(world);
  const takeBack = () => world.send({ type: "restart", at, containers: ["a", "b"] }, { type: "admitted", at });
  takeBack();
  expect(world.pending.map((action) => [action.type, "container" in action && action.container])).toEqual([
    ["stop", "a"],
    ["stop", "b"],
  ]);
  settle(world);
  takeBack();
  expect(world.pending).toEqual([]);
  expect(world.record).toMatchObject({ known: "STOPPED", desired: "STOPPED" });
  expect(world.record.containers.map(({ generation }) => generation)).toEqual([1, 1]);
});

test("E30 the end of a task is told once, however often it is stopped, and gives its share of the host back", () => {
  const { world, told } = begin();
  settle(world);
  expect(world.record.admission).toBe("admitted");
  stop(world);
  settle(world);
  stop(world);
  world.send({ type: "observed", at, container: "a", generation: 1, observation: { state: "exited", exit: exitOf(143) } });
  expect(told.filter((change) => change.type === "task" && change.known === "STOPPED")).toHaveLength(1);
  expect(world.record.admission).toBe("released");
});

test("E24 an end that was seen is not changed by what is seen later", () => {
  const { world } = begin();
  settle(world);
  world.exit("a", 7, true);
  const seen = of(world, "a");
  world.send({ type: "observed", at, container: "a", generation: 1, observation: { state: "exited", exit: exitOf(9) } });
  world.send({ type: "lookedUp", at, container: "a", generation: 1, observation: { state: "absent" } });
  expect(of(world, "a")).toMatchObject({ known: "STOPPED", exit: seen.exit, startedAt: seen.startedAt, stoppedAt: seen.stoppedAt });
  expect(of(world, "a").exit?.code).toBe(7);
});

test("E83 each state of a container has one action that leads to it", () => {
  const { world } = begin();
  const reached: string[] = [];
  const step = () => {
    const action = world.pending[0]!;
    world.finish(0, "ok");
    if ("container" in action && action.container === "a") reached.push(`${action.type} ${of(world, "a").known}`);
  };
  while (world.pending.length > 0) step();
  stop(world);
  while (world.pending.length > 0) step();
  expect(reached).toEqual(["pull PULLED", "create CREATED", "start RUNNING", "stop STOPPED"]);
});

test("E81 an action that fails is told once, with the error, and not as what it was to reach", () => {
  const { world, told } = begin();
  const index = () => world.pending.findIndex((action) => action.type === "create");
  while (index() < 0) world.finish(0, "ok");
  world.finish(index(), "failed");
  settle(world);
  const ofA = told.flatMap((change) => (change.type === "container" && change.container === "a" ? [change] : []));
  expect(ofA.map(({ known }) => known)).toEqual(["PULLED", "STOPPED"]);
  expect(ofA[1]).toMatchObject({ exit: null, reason: { code: "CreateFailed", text: "container a could not be created: failed" } });
});
