import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { containerOf } from "./change-record.ts";
import { UNKNOWN_HEALTH } from "./checks.ts";
import { applyHealth, checksDue } from "./health.ts";
import { newRecord } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

/** A running container whose checks fail from now on. */
function failing(restart: object): World {
  const container = { name: "c", rootfs: "/r", command: "x", healthCheck: { tcp: { port: 1 }, retries: 2, interval: "10s" }, restart };
  const spec = taskSchema.parse({ name: "t", containers: [container] });
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  world.send({ type: "admitted", at });
  return world;
}

const of = ({ record }: World) => record.containers[0]!;

/** Completes all actions in flight until the next deadline: checks fail, other actions succeed. */
function step(world: World): void {
  while (world.pending.length > 0) world.finish(0, world.pending[0]!.type === "checkHealth" ? "failed" : "ok");
  world.wait();
}

/** Compose specification, "start_interval": "duration between health checks during the start period". */
test("within the start period checks come after startInterval, until one has succeeded", () => {
  const healthCheck = { tcp: { port: 1 }, interval: "60s", startPeriod: "10s", startInterval: "2s" };
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x", healthCheck }] });
  const nextAfter = (bootMs: number, isHealthy: boolean) => {
    const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
    world.send({ type: "admitted", at });
    while (of(world).known !== "RUNNING") world.finish(0, "ok");
    const { record } = world;
    const checking = {
      ...record,
      containers: record.containers.map((one) => ({ ...one, health: { ...UNKNOWN_HEALTH, isChecking: true } })),
    };
    const event = { type: "health", container: "c", check: "health", generation: 1, isHealthy, output: "", at: { ...at, bootMs } } as const;
    return applyHealth(checking, event).containers[0]!.health!.nextCheck!.bootMs - bootMs;
  };
  expect(nextAfter(1000, false)).toBe(2000);
  expect(nextAfter(1000, true)).toBe(60_000);
  expect(nextAfter(20_000, false)).toBe(60_000);
});

test("E28: what is unhealthy runs on, without a policy and with one that does not say otherwise", () => {
  for (const restart of [{}, { enabled: false, unhealthy: true }]) {
    const world = failing(restart);
    for (let count = 0; count < 6; count++) step(world);
    expect(of(world)).toMatchObject({ known: "RUNNING", generation: 1, health: { status: "UNHEALTHY" } });
  }
});

test("E94: what is unhealthy is stopped and started anew, with the waits of its policy, and as often as that says", () => {
  const world = failing({ unhealthy: true, maximumCount: 2, backoff: { initial: "1s", resetAfter: "1h" } });
  for (let count = 0; count < 20; count++) step(world);
  // Each short run makes the next delay longer (shortRuns).
  expect(of(world)).toMatchObject({ known: "RUNNING", generation: 3, restarts: 2, shortRuns: 2, health: { status: "UNHEALTHY" } });
  expect(world.record.known).toBe("RUNNING");
});

const CHECK = { tcp: { port: 1 }, retries: 2, interval: "10s" };

/** A container with a startup and a liveness check, and a container that depends on its start. */
function checked(restart?: object): World {
  const container = {
    name: "c",
    rootfs: "/r",
    command: "x",
    startupCheck: { ...CHECK, retries: 3 },
    livenessCheck: CHECK,
    healthCheck: CHECK,
  };
  const spec = taskSchema.parse({
    name: "t",
    ends: "all",
    containers: [
      { ...container, ...(restart === undefined ? {} : { restart }) },
      { name: "d", rootfs: "/r", command: "x", dependsOn: [{ container: "c", condition: "START" }] },
    ],
  });
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  world.send({ type: "admitted", at });
  return world;
}

/** Completes the actions in flight; checks of the kinds in `bad` fail. */
function go(world: World, ...bad: string[]): string[] {
  const kinds: string[] = [];
  while (world.pending.length > 0) {
    const [action] = world.pending;
    if (action!.type === "checkHealth") kinds.push(action!.kind);
    world.finish(0, action!.type === "checkHealth" && bad.includes(action!.kind) ? "failed" : "ok");
  }
  return kinds;
}

test("E28: nothing else is checked, and nothing that waits for its start begins, before the check of the start has succeeded", () => {
  const world = checked({});
  expect(go(world, "startup")).toEqual(["startup"]);
  world.wait();
  expect(go(world, "startup")).toEqual(["startup"]);
  expect(world.record.containers.map(({ known }) => known)).toEqual(["RUNNING", "NONE"]);
  world.wait();
  expect(go(world)).toEqual(["startup", "liveness", "health"]);
  expect(world.record.containers.map(({ known }) => known)).toEqual(["RUNNING", "RUNNING"]);
  world.wait();
  // It is not checked again.
  expect(go(world)).toEqual(["liveness", "health"]);
});

test("E94: what has failed the check of its start or of its life is started again, with the waits of its policy, and looked at anew", () => {
  const world = checked({ ignoredExitCodes: [0], backoff: { initial: "1s", resetAfter: "1h" } });
  for (let count = 0; count < 3; count++) {
    go(world, "startup");
    world.wait();
  }
  go(world);
  expect(of(world).lastRun?.failedCheck).toMatchObject({ kind: "startup", failures: 3 });
  expect(of(world)).toMatchObject({ generation: 2, restarts: 1, shortRuns: 1, known: "RUNNING", startup: { status: "HEALTHY" } });
  for (let count = 0; count < 2; count++) {
    world.wait();
    go(world, "liveness");
  }
  expect(of(world).lastRun?.failedCheck).toMatchObject({ kind: "liveness", failures: 2 });
  expect(of(world)).toMatchObject({ generation: 3, restarts: 2, shortRuns: 2, startup: { status: "UNKNOWN" }, liveness: { failures: 0 } });
});

test("E28 E94: a container that is to be started again is not checked while it stops, and a check in flight changes nothing", () => {
  const world = checked({ backoff: { initial: "1s", resetAfter: "1h" } });
  const asked = { ...of(world), isRestartAsked: true, liveness: { ...UNKNOWN_HEALTH, isChecking: true, failures: 2 } };
  expect(checksDue({ ...asked, liveness: { ...asked.liveness, isChecking: false } }, at)).toEqual([]);
  const record = { ...world.record, containers: world.record.containers.map((one) => (one.name === "c" ? asked : one)) };
  const late = { type: "health", container: "c", generation: asked.generation, check: "liveness", isHealthy: false, output: "x" } as const;
  const after = applyHealth(record, { ...late, at });
  expect(containerOf(after, "c")!.liveness).toMatchObject({ isChecking: false, failures: 2, output: "" });
});

test("E28: without a policy it is stopped, and why is told", () => {
  const world = checked();
  for (let count = 0; count < 3; count++) {
    go(world, "liveness");
    world.wait();
  }
  go(world);
  expect(of(world)).toMatchObject({ known: "STOPPED", generation: 1, reason: { code: "CheckFailed" } });
  expect(of(world).reason!.text).toBe("container c has failed its liveness check 2 times in a row");
});

test("E28: the postStart hook comes first; when it fails the container is stopped; the first check waits for its delay, and some need more than one success", () => {
  const container = {
    name: "c",
    rootfs: "/r",
    command: "x",
    postStart: { command: ["x"] },
    healthCheck: { ...CHECK, initialDelay: "25s", successes: 2 },
  };
  const begin = () => {
    const spec = taskSchema.parse({ name: "t", containers: [container] });
    const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
    world.send({ type: "admitted", at });
    return world;
  };
  const bad = begin();
  go(bad, "postStart");
  expect(of(bad)).toMatchObject({ known: "STOPPED", reason: { code: "CheckFailed" } });
  const good = begin();
  expect(go(good)).toEqual(["postStart"]);
  const before = good.now.bootMs;
  good.wait();
  expect(good.now.bootMs - before).toBe(25_000);
  expect(go(good)).toEqual(["health"]);
  expect(of(good).health).toMatchObject({ status: "UNKNOWN", successes: 1 });
  good.wait();
  go(good);
  expect(of(good).health).toMatchObject({ status: "HEALTHY", successes: 2, sinceWallMs: good.now.wallMs });
});
