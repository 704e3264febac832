import { expect, test } from "vitest";
import { exitOf, World } from "../../../test/support/engine/world.ts";
import { type Condition, checkGroup, taskSchema } from "../spec/index.ts";
import { newRecord, reason, renderReason } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

/** `web` depends on `db`; `main` depends on nothing, and keeps the task running. */
function world(condition: Condition, { timeout, db = {} }: { timeout?: string; db?: object } = {}): World {
  const common = { rootfs: "/r", command: "x" };
  const spec = taskSchema.parse({
    name: "t",
    containers: [
      { name: "main", ...common },
      { name: "db", essential: false, ...common, ...db },
      {
        name: "web",
        essential: false,
        ...common,
        dependsOn: [{ container: "db", condition, ...(timeout === undefined ? {} : { timeout }) }],
      },
    ],
  });
  const made = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  made.send({ type: "admitted", at });
  return made;
}

const of = (one: World, name: string) => one.record.containers.find((container) => container.name === name)!;
const why = (one: World, name: string) => renderReason(of(one, name).reason!);

/** Completes the actions in flight until there are none. `except`: actions that are left in flight. */
function go(one: World, except: string[] = []): void {
  const index = () =>
    one.pending.findIndex((action) => !except.includes("container" in action ? `${action.type} ${action.container}` : action.type));
  for (let next = index(); next >= 0; next = index()) one.finish(next, "ok");
}

test("E91 CREATE: it goes on when the other was created", () => {
  const one = world("CREATE");
  go(one, ["create db"]);
  expect(of(one, "web").known).toBe("NONE");
  one.finish(0, "ok");
  go(one, ["start db"]);
  expect([of(one, "web").known, of(one, "db").known]).toEqual(["RUNNING", "CREATED"]);
});

test("E91 START: it goes on when the other was started", () => {
  const one = world("START");
  go(one, ["start db"]);
  expect(of(one, "web").known).toBe("NONE");
  go(one);
  expect(of(one, "web").known).toBe("RUNNING");
});

test("E92: a restart stops who depends on others first, and starts it last", () => {
  const one = world("START");
  go(one);
  one.send({ type: "restart", at, containers: ["db", "web", "main"] });
  const steps: string[] = [];
  while (one.pending.length > 0) {
    const action = one.pending[0]!;
    if ("container" in action && ["stop", "start"].includes(action.type)) steps.push(`${action.type} ${action.container}`);
    one.finish(0, "ok");
  }
  const order = steps.filter((step) => !step.endsWith("main"));
  expect(order).toEqual(["stop web", "stop db", "start db", "start web"]);
  expect(of(one, "web")).toMatchObject({ known: "RUNNING", generation: 2 });
});

test("E93 who waits for what can never be gives up at once and says why; with a time-out, when that is over", () => {
  const never = world("HEALTHY");
  go(never);
  expect(of(never, "web")).toMatchObject({ known: "STOPPED", startedAt: null, exit: null });
  expect(why(never, "web")).toBe("container web cannot start <- db has no health check");
  const late = world("COMPLETE", { timeout: "1s" });
  go(late);
  expect([of(late, "web").known, late.pending]).toEqual(["NONE", []]);
  expect(late.wait()).toBe(true);
  expect([late.bootMs, of(late, "web").known]).toEqual([1000, "STOPPED"]);
  expect(why(late, "web")).toBe("container web cannot start <- db was not complete within 1000 ms");
  expect(late.record.known).toBe("RUNNING");
});

test("the check of an image is known when it was pulled, unless the task has said that it does not apply", () => {
  const target = { name: "db", image: "oci:/i", essential: false };
  const after = { name: "web", rootfs: "/r", command: "x", dependsOn: [{ container: "db", condition: "HEALTHY" as const }] };
  const never = (more: object) =>
    checkGroup([taskSchema.parse({ name: "t", containers: [{ ...target, ...more }, after] })]).map(({ message }) => message);
  expect(never({})).toEqual([]);
  expect(never({ imageHealthCheck: { interval: "1s" } })).toEqual([]);
  expect(never({ imageHealthCheck: false })).toEqual(["db has no health check: it never becomes HEALTHY"]);
});

test("E91 SUCCESS: an end with 0 lets it go on; any other, and one that nobody saw, never does", () => {
  const good = world("SUCCESS");
  go(good);
  expect(of(good, "web").known).toBe("NONE");
  good.exit("db", 0, true);
  go(good);
  expect(of(good, "web").known).toBe("RUNNING");

  const bad = world("SUCCESS");
  go(bad);
  bad.exit("db", 3, true);
  expect(of(bad, "web")).toMatchObject({ known: "STOPPED", exit: null });
  expect(why(bad, "web")).toBe("container web cannot start <- db has stopped and is not successful <- container db exited with 3");

  const unseen = world("SUCCESS");
  go(unseen);
  unseen.incarnations.delete(of(unseen, "db").runtimeId);
  unseen.crash(() => true);
  expect(of(unseen, "db").exit).toMatchObject({ code: null, unknown: true });
  expect(of(unseen, "web").known).toBe("STOPPED");
});

test("E91 COMPLETE: any end lets it go on, also one that nobody saw; not that of one which never ran", () => {
  const one = world("COMPLETE");
  go(one);
  one.incarnations.delete(of(one, "db").runtimeId);
  one.crash(() => true);
  go(one);
  expect(of(one, "web").known).toBe("RUNNING");

  const never = world("COMPLETE");
  go(never, ["create db"]);
  never.finish(0, "failed");
  expect(of(never, "web").known).toBe("STOPPED");
  expect(why(never, "web")).toContain("container db could not be created: failed");
});

test("E28 E91 HEALTHY: the check decides, and an unhealthy container runs on", () => {
  const one = world("HEALTHY", { db: { healthCheck: { command: ["x"], retries: 2, interval: "1s" } } });
  go(one, ["checkHealth db"]);
  expect(of(one, "web").known).toBe("NONE");
  go(one);
  expect(of(one, "web").known).toBe("RUNNING");
  const fail = () => {
    one.wait();
    one.finish(0, "failed");
    return of(one, "db").health!.status;
  };
  expect([fail(), fail()]).toEqual(["HEALTHY", "UNHEALTHY"]);
  expect(of(one, "db")).toMatchObject({ known: "RUNNING", desired: "RUNNING" });
});

test("E91 a time-out ends the wait, and the reason names who was waited for", () => {
  const one = world("SUCCESS", { timeout: "10s" });
  go(one);
  expect(one.wait()).toBe(true);
  expect(one.bootMs).toBe(10_000);
  expect(why(one, "web")).toBe("container web cannot start <- db was not successful within 10000 ms");
  expect(of(one, "main").known).toBe("RUNNING");
});

test("E92 containers stop in the inverse order of their dependencies, also when the one between them has ended", () => {
  const common = { rootfs: "/r", command: "x", essential: false };
  const spec = taskSchema.parse({
    name: "t",
    containers: [
      { ...common, name: "C", essential: true },
      { ...common, name: "B", dependsOn: [{ container: "C" }] },
      { ...common, name: "A", dependsOn: [{ container: "B" }] },
    ],
  });
  const one = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  one.send({ type: "admitted", at });
  go(one);
  one.exit("B", 0, true);
  one.send({ type: "stop", at, reason: reason("StoppedByUser", "stopped") });
  expect(one.pending).toMatchObject([{ type: "stop", container: "A" }]);
  one.finish(0, "ok");
  expect(one.pending).toMatchObject([{ type: "stop", container: "C" }]);
});

test("E20 E47 a container that was created just before the crash is adopted, not created again", () => {
  const one = world("START");
  go(one, ["create db", "create main"]);
  one.crash(() => true);
  expect(of(one, "db").known).toBe("CREATED");
  expect(one.pending.filter(({ type }) => type === "create")).toEqual([]);
  go(one);
  expect(of(one, "db")).toMatchObject({ known: "RUNNING", generation: 1 });
});

test("E22 E23 an end while the daemon was away keeps its exit code and its reason", () => {
  const one = world("START");
  go(one);
  one.exit("db", 7, false);
  const killed = { ...exitOf(137), signal: 9, oomKilled: true };
  one.incarnations.set(of(one, "web").runtimeId, { life: "exited", exit: killed });
  one.crash(() => false);
  expect(of(one, "db").exit?.code).toBe(7);
  expect(why(one, "web")).toBe("container web was killed by signal 9 <- the kernel killed it for memory");
});

test("E19 what was in flight when the daemon died, and is not there, is done again", () => {
  const one = world("START");
  go(one, ["create db", "create main"]);
  expect(of(one, "db").applied).not.toBeNull();
  one.crash(() => false);
  expect(of(one, "db")).toMatchObject({ known: "PULLED", applied: "CREATED" });
  expect(one.pending).toContainEqual(expect.objectContaining({ type: "create", container: "db" }));
  go(one);
  expect(["db", "main", "web"].map((name) => of(one, name).known)).toEqual(["RUNNING", "RUNNING", "RUNNING"]);
});

test("E21 a container that the runtime does not know any longer has vanished", () => {
  const one = world("START");
  go(one);
  const { runtimeId, name, generation } = of(one, "main");
  one.incarnations.delete(runtimeId);
  one.send({ type: "observed", at, container: name, generation, observation: { state: "absent" } });
  expect(of(one, "main")).toMatchObject({ known: "STOPPED", exit: { code: null, unknown: true } });
  expect(renderReason(one.record.reason!)).toBe(
    "essential container main ended <- container main vanished: the runtime does not know it any longer",
  );
});

test("E88 an end of an older incarnation is ignored", () => {
  const one = world("START");
  go(one);
  one.send({ type: "restart", at, containers: ["db"] });
  go(one);
  expect(of(one, "db")).toMatchObject({ known: "RUNNING", generation: 2, restarts: 1 });
  one.send({ type: "observed", at, container: "db", generation: 1, observation: { state: "exited", exit: exitOf(1) } });
  expect(of(one, "db").known).toBe("RUNNING");
});

test("E88 a stopped container that turns up running is stopped once", () => {
  const one = world("START");
  go(one);
  one.exit("db", 0, true);
  go(one);
  const stray = () => one.send({ type: "observed", at, container: "db", generation: 1, observation: { state: "running" } });
  stray();
  expect(one.pending).toMatchObject([{ type: "stop", container: "db" }]);
  go(one);
  stray();
  expect(one.pending).toEqual([]);
});

test("E77 a container that cannot be stopped is never told as STOPPED; after five tries there is an alarm", () => {
  const one = world("START");
  go(one);
  one.send({ type: "delete", at });
  go(one, ["stop main"]);
  for (let failed = 0; failed < 7; failed++) {
    const index = one.pending.findIndex((action) => action.type === "stop");
    one.finish(index, "notDone");
    expect(of(one, "main").known).toBe("RUNNING");
    expect(one.wait()).toBe(true);
  }
  expect(of(one, "main").stop.failures).toBe(7);
  go(one);
  expect(one.isForgotten).toBe(true);
});
