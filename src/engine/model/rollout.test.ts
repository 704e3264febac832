import { expect, test } from "vitest";
import { type TaskSpec, taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import { reason, renderReason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import type { RevisionImages } from "./revision-images.ts";
import { advanceRollout, nextRolloutLook, pauseRollout, resumeRollout, watchedAgain } from "./rollout.ts";
import { beginRollout } from "./rollout-begin.ts";
import type { RolloutDecision, RolloutTold } from "./rollout-steps.ts";
import { isActive, lastGood, type RevisionNote, type RolloutKind, type ServiceRecord, unprovenTasks } from "./service.ts";
import { works } from "./shared-proxy.ts";
import type { Instant } from "./time.ts";

/** What becomes of a version when it runs. */
type Fate = "works" | "crashes" | "never ready" | "crashes late" | "wrong image" | "unhealthy";

const MONITOR_MS = 1000;

function specsOf(version: number, replicas: number, update: object, rollback?: object): TaskSpec[] {
  return Array.from({ length: replicas }, (_, index) =>
    taskSchema.parse({
      name: `web-${index}`,
      update: { monitor: "1s", readyWithin: "4s", ...update },
      ...(rollback === undefined ? {} : { rollback }),
      replica: { of: "web", index },
      containers: [{ name: "c", rootfs: "/r", command: `v${version}`, restart: {} }],
    }),
  );
}

/** The tasks of one service without containers behind them. */
class World {
  bootId = "b";
  bootMs = 0;
  tasks: TaskRecord[] = [];
  readonly versions = new Map<number, readonly TaskSpec[]>();
  readonly images = new Map<number, RevisionImages>();
  readonly fates = new Map<string, Fate>();
  service: ServiceRecord | undefined;
  readonly told: (RolloutTold & { readonly to: number })[] = [];
  #count = 0;

  get now(): Instant {
    return { bootId: this.bootId, bootMs: this.bootMs, wallMs: this.bootMs };
  }

  get view() {
    return {
      specsOf: (number: number) => this.versions.get(number),
      imagesOf: (number: number) => this.images.get(number),
      tasks: this.tasks,
      now: this.now,
      newId: (name: string) => `g.${name}.${++this.#count}`,
    };
  }

  /** As apply does: replicas that are not there are created at once. */
  apply(specs: readonly TaskSpec[], kind?: RolloutKind): void {
    const number = (this.service?.revisions.at(-1)?.number ?? 0) + 1;
    this.versions.set(number, specs);
    const note: RevisionNote = { number, cause: "apply", atMs: this.bootMs, changed: [], verdict: "unknown", reason: null };
    const before = this.service ?? ({ version: 1, group: "g", name: "web", revisions: [] } as unknown as ServiceRecord);
    const service = { ...before, revisions: [...before.revisions, note] };
    const isThere = this.tasks.some(({ isDeleteAsked }) => !isDeleteAsked);
    for (const spec of specs)
      if (!this.tasks.some(({ name, isDeleteAsked }) => name === spec.name && !isDeleteAsked))
        this.#add(`g.${spec.name}.${++this.#count}`, spec);
    const begin = {
      kind: kind ?? (isThere ? "update" : "create"),
      to: number,
      from: this.service ? lastGood(this.service) : null,
    } as const;
    this.#take(beginRollout(service, begin, this.view));
    this.advance();
  }

  advance(): void {
    for (let round = 0; round < 100; round++) {
      const decision = advanceRollout(this.service!, this.view);
      if (decision.service === this.service) {
        expect(decision.steps).toEqual([]);
        return;
      }
      this.#take(decision);
    }
    throw new Error("a decision always leads to another one");
  }

  #take({ service, steps, told }: RolloutDecision): void {
    this.service = service;
    this.told.push(...told.map((one) => ({ ...one, to: service.rollout.to })));
    for (const step of steps) {
      if (step.type === "remove") this.change(step.id, { isDeleteAsked: true, desired: "STOPPED", reason: step.reason });
      else {
        if (step.order === "stopFirst" && step.current !== undefined)
          this.change(step.current.id, { isDeleteAsked: true, desired: "STOPPED", reason: reason("Replaced", "replaced") });
        this.#add(step.id, step.spec);
      }
    }
  }

  #add(id: string, spec: TaskSpec): void {
    this.tasks = [...this.tasks, newRecord({ id, group: "g", spec, cgroup: null, at: this.now })];
  }

  change(id: string, change: Partial<TaskRecord>): void {
    this.tasks = this.tasks.map((one) => (one.id === id ? { ...one, ...change } : one));
  }

  /** What a task shows next. */
  step(task: TaskRecord): void {
    const [container] = task.containers;
    const to = (known: TaskRecord["known"], more: object = {}, top: Partial<TaskRecord> = {}) =>
      this.change(task.id, { known, ...top, containers: [{ ...container!, known: known === "STOPPED" ? "STOPPED" : "RUNNING", ...more }] });
    if (task.isDeleteAsked) {
      this.tasks = this.tasks.filter(({ id }) => id !== task.id);
      return;
    }
    if (task.desired === "STOPPED") return;
    const fate = this.fates.get(task.spec.containers[0]!.command!) ?? "works";
    const isUp = task.known === "RUNNING";
    const ended = { desired: "STOPPED", reason: reason("PullFailed", "there is no such image") } as const;
    if (fate === "wrong image") to("STOPPED", {}, ended);
    else if (fate === "never ready")
      to("RUNNING", { health: { status: "UNKNOWN", failures: 0, isChecking: false, nextCheck: null, output: "" } });
    else if (fate === "unhealthy")
      to("RUNNING", { health: { status: "UNHEALTHY", failures: 3, isChecking: false, nextCheck: null, output: "" } });
    else if (fate === "crashes" && isUp) to("RUNNING", { restarts: container!.restarts + 1 });
    else if (fate === "crashes late" && isUp && this.bootMs - task.createdAt.bootMs > MONITOR_MS / 2)
      to("RUNNING", { restarts: container!.restarts + 1 });
    else if (!isUp) to("RUNNING", { startedAt: this.now });
  }

  /** Number of replicas of which a task works. */
  get ready(): number {
    return new Set(this.tasks.filter((one) => !one.isDeleteAsked && works(one)).map(({ name }) => name)).size;
  }

  /** So many replicas are ready at least, and of each there are no more than the old task and the new one. @throws Error */
  promise(least: number, what: string): void {
    if (this.ready < least) throw new Error(`${what}: ${this.ready} replicas are ready, and ${least} are promised`);
    const names = this.tasks.filter(({ isDeleteAsked }) => !isDeleteAsked).map(({ name }) => name);
    if (names.some((name) => names.filter((one) => one === name).length > 2)) throw new Error(`${what}: a replica has three tasks`);
  }

  /** Lets time pass until nothing changes any more. @param onStep called after each change */
  settle(onStep: () => void = () => {}): void {
    for (let at = 0; at < 2000 && isActive(this.service!.rollout) && this.service!.rollout.state === "progressing"; at++) {
      for (const task of this.tasks) {
        this.step(task);
        this.advance();
        onStep();
      }
      const look = nextRolloutLook(this.service!, this.versions.get(this.service!.rollout.to), this.now);
      this.bootMs = Math.max(this.bootMs + 100, Math.min(look?.bootMs ?? 0, this.bootMs + 400));
      this.advance();
      onStep();
    }
  }

  commands(): (string | undefined)[] {
    return this.tasks.filter(({ isDeleteAsked }) => !isDeleteAsked).map(({ spec }) => spec.containers[0]!.command);
  }
}

function started(replicas: number, update: object, rollback?: object): World {
  const world = new World();
  world.apply(specsOf(1, replicas, update, rollback));
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "create", state: "complete" });
  expect(world.service!.revisions).toMatchObject([{ number: 1, verdict: "good" }]);
  return world;
}

const ORDERS = [
  { order: "start-first" },
  { order: "stop-first" },
  { order: "stop-first", parallelism: 2 },
  { order: "start-first", parallelism: 0 },
];

test.each(ORDERS)("R1 an update reaches every replica, with no fewer ready than promised (%o)", (update) => {
  const world = started(3, update);
  world.apply(specsOf(2, 3, update));
  const least = update.order === "start-first" ? 3 : 3 - (update.parallelism ?? 1);
  world.settle(() => world.promise(least, "update"));
  expect(world.service!.rollout).toMatchObject({ kind: "update", state: "complete", to: 2 });
  expect(world.commands()).toEqual(["v2", "v2", "v2"]);
});

const BROKEN: readonly Fate[] = ["crashes", "never ready", "crashes late", "wrong image", "unhealthy"];

test.each(BROKEN)("R2 a broken version goes back to the last good one, and says why (it %s)", (fate) => {
  for (const update of ORDERS) {
    const world = started(3, update);
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
  const paused = started(3, { onFailure: "pause" });
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

  const first = new World();
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
  const world = started(3, { order: "start-first" });
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
  const world = started(3, update);
  world.apply(specsOf(2, 3, update));
  world.settle();
  expect(world.told.filter(({ state }) => state === "replacing").map(({ replica }) => replica)).toEqual(["web-2", "web-1"]);
  expect(world.commands().sort()).toEqual(["v1", "v2", "v2"]);
  const asked = started(1, {});
  asked.apply(specsOf(2, 1, {}));
  for (const task of asked.tasks) asked.step(task);
  const task = asked.tasks.at(-1)!;
  asked.change(task.id, { containers: task.containers.map((one) => ({ ...one, restarts: 1, askedRestarts: 1 })) });
  asked.settle();
  expect(asked.service!.rollout).toMatchObject({ kind: "update", state: "complete" });
});

test("R6 a new replica is unproven until it has worked for minReady, and the time without a daemon proves nothing", () => {
  const update = { order: "start-first", parallelism: 0, minReady: "2s" };
  const world = started(2, update);
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
  const stopFirst = started(2, { minReady: "2s" });
  stopFirst.apply(specsOf(2, 2, { minReady: "2s" }));
  expect(unprovenTasks(stopFirst.service!, stopFirst.versions.get(2))).toEqual([]);
});

/** The same numbers from the same seed. Source: mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

test("R1, R2: random versions, pauses, reboots and tasks that are slow: it ends, keeps its promise, and what ends well is good", () => {
  for (let seed = 1; seed <= 80; seed++) {
    const random = randomOf(seed);
    const replicas = 1 + random(5);
    const update = {
      order: random(2) === 0 ? "start-first" : "stop-first",
      parallelism: random(replicas + 1),
      delay: `${random(3) * 100}ms`,
      minReady: `${random(2) * 200}ms`,
      onFailure: "rollback",
    };
    const most = update.parallelism === 0 ? replicas : update.parallelism;
    const least = update.order === "start-first" ? replicas : Math.max(0, replicas - most);
    const world = started(replicas, update);
    for (let version = 2; version <= 5; version++) {
      const fate = random(2) === 0 ? "works" : BROKEN[random(BROKEN.length)]!;
      world.fates.set(`v${version}`, fate);
      world.apply(specsOf(version, replicas, update));
      const steps = random(60);
      // A new version may come in the middle of a rollout.
      for (let at = 0; at < steps && isActive(world.service!.rollout); at++) {
        const task = world.tasks[random(world.tasks.length)];
        const what = random(20);
        if (what === 0 && world.service!.rollout.state === "progressing") world.service = pauseRollout(world.service!);
        else if (what === 1 && world.service!.rollout.state === "paused") world.service = resumeRollout(world.service!, world.now);
        else if (what < 6) {
          world.bootMs += random(400);
          // What is to crash within the time of `monitor` does.
          for (const one of world.tasks) if (one.known === "RUNNING") world.step(one);
        } else if (task !== undefined) world.step(task);
        world.advance();
        world.promise(least, `seed ${seed}, version ${version}`);
      }
    }
    if (world.service!.rollout.state === "paused") world.service = resumeRollout(world.service!, world.now);
    world.advance();
    world.settle(() => world.promise(least, `seed ${seed}`));
    const { rollout, revisions } = world.service!;
    expect(rollout.state, `seed ${seed}`).toBe("complete");
    expect(revisions.find(({ number }) => number === rollout.to)?.verdict).toBe("good");
    const target = world.versions.get(rollout.to)![0]!.containers[0]!.command;
    expect(new Set(world.commands()), `seed ${seed}`).toEqual(new Set([target]));
    expect(world.fates.get(target!) ?? "works").toBe("works");
  }
});
