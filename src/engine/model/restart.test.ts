import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { newRecord, renderReason } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

function world(containers: object[], fields: object = {}): World {
  const spec = taskSchema.parse({ name: "t", ...fields, containers: containers.map((one) => ({ rootfs: "/r", command: "x", ...one })) });
  const made = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: "/runtd/g.t.1-0", at }), () => {});
  made.send({ type: "admitted", at });
  go(made);
  return made;
}

function go(one: World): void {
  while (one.pending.length > 0) one.finish(0, "ok");
}

const of = (one: World, name: string) => one.record.containers.find((container) => container.name === name)!;

test("E94 exits 1, 1 and then 0 with 0 ignored: it is started twice again, with a longer wait each time", () => {
  const one = world([{ name: "c", restart: { ignoredExitCodes: [0] } }]);
  const waits: number[] = [];
  for (const code of [1, 1]) {
    one.exit("c", code, true);
    expect(one.record.known).toBe("RUNNING");
    const ended = one.bootMs;
    go(one);
    one.wait();
    waits.push(one.bootMs - ended);
    go(one);
    expect(of(one, "c").known).toBe("RUNNING");
  }
  one.exit("c", 0, true);
  expect(of(one, "c")).toMatchObject({ known: "STOPPED", restarts: 2, generation: 3, exit: { code: 0 } });
  expect(waits).toEqual([1000, 2000]);
});

test("P32 a container that was started again says which run its last end was of; its own end takes that place", () => {
  const one = world([{ name: "c", restart: {} }]);
  const first = of(one, "c");
  one.exit("c", 1, true);
  const lastRun = { runtimeId: first.runtimeId, startedWallMs: first.startedAt!.wallMs };
  expect(of(one, "c")).toMatchObject({ generation: 2, exit: { code: 1 }, lastRun });
  go(one);
  one.wait();
  go(one);
  expect(of(one, "c").startedAt!.wallMs).toBeGreaterThan(first.startedAt!.wallMs);
  expect(of(one, "c")).toMatchObject({ known: "RUNNING", exit: { code: 1 }, lastRun });
  one.send({ type: "stop", at: one.now, reason: { code: "StoppedByUser", text: "x" } });
  go(one);
  expect(of(one, "c")).toMatchObject({ known: "STOPPED", lastRun: null });
});

test("E94 a run that is too short, and one too many, are not followed by another", () => {
  const short = world([{ name: "c", restart: { minimumRunTime: "10s" } }]);
  short.exit("c", 1, true);
  expect(short.record.desired).toBe("STOPPED");
  const often = world([{ name: "c", restart: { maximumCount: 1 } }]);
  often.exit("c", 1, true);
  go(often);
  often.wait();
  go(often);
  often.exit("c", 1, true);
  expect(of(often, "c")).toMatchObject({ known: "STOPPED", restarts: 1 });
});

test("E94 what is being stopped is not started again", () => {
  const one = world([{ name: "c", restart: {} }]);
  one.send({ type: "delete", at });
  one.exit("c", 1, true);
  expect(of(one, "c")).toMatchObject({ known: "STOPPED", generation: 1 });
});

test("a run that lasts makes the next wait short again", () => {
  const one = world([{ name: "c", restart: { backoff: { resetAfter: "1m" } } }]);
  for (let run = 0; run < 3; run++) {
    one.exit("c", 1, true);
    go(one);
    one.wait();
    go(one);
  }
  one.bootMs += 60_000;
  const ended = one.bootMs;
  one.exit("c", 1, true);
  go(one);
  one.wait();
  expect(one.bootMs - ended).toBe(1000);
});

test("an exit that nobody saw counts as a failure, also where 0 is ignored", () => {
  const one = world([{ name: "c", restart: { ignoredExitCodes: [0] } }]);
  one.incarnations.delete(of(one, "c").runtimeId);
  one.crash(() => false);
  expect(of(one, "c")).toMatchObject({ generation: 2, restarts: 1 });
});

test("after a reboot a task that starts once has ended with HostRebooted, without an exit code", () => {
  const one = world([{ name: "c" }]);
  one.reboot();
  expect(one.record).toMatchObject({ known: "STOPPED", reason: { code: "HostRebooted" } });
  expect(of(one, "c")).toMatchObject({ known: "STOPPED", exit: null, reason: { code: "HostRebooted" } });
});

test("after a reboot start: always starts it again, but for what has succeeded for good; recorded exits are kept", () => {
  const one = world([{ name: "c" }, { name: "once", essential: false }, { name: "side", essential: false }], { start: "always" });
  one.exit("once", 0, true);
  one.exit("side", 5, false);
  one.reboot();
  go(one);
  expect(one.record).toMatchObject({ known: "RUNNING", generation: 2 });
  expect([of(one, "c").generation, of(one, "once").generation, of(one, "side").generation]).toEqual([2, 1, 2]);
  expect(of(one, "once")).toMatchObject({ known: "STOPPED", exit: { code: 0 } });
});

test("an orderly shutdown that ends the essential container is no reason not to start it again", () => {
  const one = world([{ name: "c" }], { start: "always" });
  one.exit("c", 143, false);
  one.reboot();
  go(one);
  expect(one.record).toMatchObject({ known: "RUNNING", generation: 2 });
});

test("a wall clock that is set by a day changes no deadline", () => {
  const one = world([{ name: "c", restart: {} }]);
  one.exit("c", 1, true);
  go(one);
  const tick = (wallMs: number) => one.send({ type: "tick", at: { ...one.now, wallMs } });
  tick(86_400_000);
  tick(-86_400_000);
  expect(one.pending).toEqual([]);
  one.wait();
  expect(one.pending).toMatchObject([{ type: "create", generation: 2 }]);
});

test("T2 no container gets a root file system before the task has its cgroup; if that fails the task stops and says so", () => {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  const one = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: "/runtd/g.t.1-0", at }), () => {});
  one.send({ type: "admitted", at });
  expect(one.pending).toEqual([{ type: "createResource", name: "cgroup" }]);
  one.finish(0, "failed");
  expect(one.pending).toEqual([]);
  expect(renderReason(one.record.reason!)).toBe("the resource cgroup could not be created: failed");
  expect(one.record.known).toBe("STOPPED");
});

test("E95 the pause process of shared namespaces runs before any container is started, whose root is made meanwhile, and stops last", () => {
  const one = world([{ name: "a" }, { name: "b" }], { namespaces: { pid: "shared" } });
  const order: string[] = [];
  const fresh = new World(newRecord({ id: "g.t.2", group: "g", spec: one.record.spec, cgroup: null, at }), (_, { actions }) => {
    for (const action of actions) if ("container" in action) order.push(`${action.type} ${action.container}`);
  });
  fresh.send({ type: "admitted", at });
  go(fresh);
  fresh.send({ type: "delete", at });
  go(fresh);
  const [pause, a, b] = ["start runtd/pause", "start a", "start b"].map((action) => order.indexOf(action)) as [number, number, number];
  expect(pause).toBeLessThan(Math.min(a, b));
  const waiting = new World(newRecord({ id: "g.t.3", group: "g", spec: one.record.spec, cgroup: null, at }), () => {});
  waiting.send({ type: "admitted", at });
  const finishOthers = () => {
    const next = waiting.pending.findIndex(
      (action) => !("container" in action && action.container === "runtd/pause" && action.type === "start"),
    );
    if (next !== -1) waiting.finish(next, "ok");
    return next !== -1;
  };
  while (finishOthers());
  expect(waiting.record.containers.map(({ name, known }) => `${name} ${known}`)).toEqual(["runtd/pause CREATED", "a CREATED", "b CREATED"]);
  waiting.finish(0, "ok");
  expect(waiting.pending.map(({ type }) => type)).toEqual(["start", "start"]);
  expect(order.indexOf("stop runtd/pause")).toBeGreaterThan(Math.max(order.indexOf("stop a"), order.indexOf("stop b")));
});

test("E87 a stopped task is kept for its retention and until its end was acknowledged; without retention it goes at once", () => {
  const one = world([{ name: "c" }], { retention: "2s" });
  one.exit("c", 0, true);
  one.send({ type: "acknowledged", at: one.now, known: "STOPPED", containers: {} });
  expect([one.isForgotten, one.pending]).toEqual([false, []]);
  one.wait();
  go(one);
  expect([one.isForgotten, one.bootMs]).toEqual([true, 2000]);
  expect(one.incarnations.size + one.resources.size).toBe(0);

  const silent = world([{ name: "c" }], { retention: 0 });
  silent.exit("c", 0, true);
  silent.wait();
  go(silent);
  expect([silent.isForgotten, silent.bootMs]).toEqual([true, 72 * 3_600_000]);
});
