import { expect, test } from "vitest";
import { BROKEN, commandOf, MONITOR_MS, type RolloutWorld, specsOf, startedWorld } from "../../../test/support/engine/rollout-world.ts";
import { pauseRollout, resumeRollout, watchedAgain } from "./rollout.ts";
import { isActive } from "./service.ts";

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
    const world = startedWorld(replicas, update);
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

/** What clients and readers of the history rely on, whatever is asked meanwhile. */
class Reliance {
  /** Names of replicas of which a task was good once. With start-first one of their tasks serves at every moment. */
  #names = new Set<string>();
  /** Commands of versions that have worked for the whole time in some replica. */
  readonly #versions = new Set<string>();
  readonly #minReadyMs: number;
  readonly #isStartFirst: boolean;

  constructor(minReadyMs: number, isStartFirst: boolean) {
    this.#minReadyMs = minReadyMs;
    this.#isStartFirst = isStartFirst;
  }

  /** Called after each change. @throws Error */
  check(world: RolloutWorld, what: string): void {
    const { rollout, revisions } = world.service!;
    const workedMs = (id: string) => world.bootMs - (world.since.get(id) ?? world.bootMs);
    for (const task of world.tasks) if (workedMs(task.id) >= this.#minReadyMs + MONITOR_MS) this.#versions.add(commandOf(task));
    for (const { number } of revisions.filter(({ verdict }) => verdict === "good")) {
      const version = commandOf({ spec: world.versions.get(number)![0]! });
      if (!this.#versions.has(version)) throw new Error(`${what}: ${version} is good, and has worked in no replica`);
    }
    if (rollout.kind === "rollback" && rollout.state === "complete")
      for (const task of world.tasks)
        if (!task.isDeleteAsked && (world.fates.get(commandOf(task)) ?? "works") !== "works")
          throw new Error(`${what}: the return is complete, and ${task.id} has ${commandOf(task)}`);
    if (!this.#isStartFirst) return;
    const wanted = new Set(rollout.replicas.map(({ name }) => name));
    for (const { name, state } of rollout.replicas) if (state === "good") this.#names.add(name);
    this.#names = new Set([...this.#names].filter((name) => wanted.has(name)));
    const serving = world.serving.filter(({ name }) => this.#names.has(name));
    for (const name of this.#names) if (!serving.some((one) => one.name === name)) throw new Error(`${what}: nothing serves as ${name}`);
    const early = serving.find(({ id }) => workedMs(id) < this.#minReadyMs);
    if (early !== undefined) throw new Error(`${what}: ${early.id} of ${commandOf(early)} serves after ${workedMs(early.id)} ms`);
  }
}

test("R3, R5, R6, R7: whatever is applied, scaled and paused, clients only reach what has proven itself, and only that is good", () => {
  for (let seed = 1; seed <= 120; seed++) {
    const random = randomOf(seed);
    const minReadyMs = random(3) * 200;
    const isStartFirst = random(3) > 0;
    let replicas = 1 + random(4);
    const pace = { order: isStartFirst ? "start-first" : "stop-first", parallelism: random(3), minReady: `${minReadyMs}ms` };
    const policyOf = () => ({
      ...{ ...pace, onFailure: ["rollback", "rollback", "pause", "continue"][random(4)] },
      ...(random(3) === 0 ? { partition: random(replicas + 2) } : {}),
    });
    const policies = new Map<string, object>([["v1", policyOf()]]);
    const world = startedWorld(replicas, policies.get("v1")!);
    const reliance = new Reliance(minReadyMs, isStartFirst);
    const check = (what: string) => reliance.check(world, `seed ${seed}, ${what}`);
    check("started");
    const versionOf = (number: number) => commandOf({ spec: world.versions.get(number)![0]! });
    const specsIn = (number: number) => specsOf(Number(versionOf(number).slice(1)), replicas, policies.get(versionOf(number))!);
    const scale = () => {
      const { to, from, state, kind } = world.service!.rollout;
      replicas = 1 + random(5);
      const kept = new Set(specsIn(to).map(({ name }) => name));
      const before = world.tasks.filter(({ name, isDeleteAsked }) => !isDeleteAsked && kept.has(name)).map(({ id }) => id);
      if (state === "complete") world.apply(specsIn(to));
      else world.scale(specsIn(to), specsIn(state !== "progressing" && kind === "update" && from !== null ? from : to));
      if (state !== "paused" && state !== "failed") return;
      expect(world.service!.rollout.state, `seed ${seed}, scaled`).toBe(state);
      expect(world.tasks.filter(({ isDeleteAsked }) => !isDeleteAsked).map(({ id }) => id)).toEqual(expect.arrayContaining(before));
    };
    for (let version = 2; version <= 5; version++) {
      const command = `v${version}`;
      world.fates.set(command, random(2) === 0 ? "works" : BROKEN[random(BROKEN.length)]!);
      policies.set(command, policyOf());
      world.apply(specsOf(version, replicas, policies.get(command)!));
      check(`${command} applied`);
      for (let at = random(80); at > 0; at--) {
        const { state } = world.service!.rollout;
        const what = random(40);
        if (what === 0 && state === "progressing") world.service = pauseRollout(world.service!);
        else if (what < 3 && state === "paused") world.service = resumeRollout(world.service!, world.now);
        else if (what === 3) scale();
        else if (what === 4) world.service = watchedAgain(world.service!, world.now);
        else if (what < 12) {
          world.bootMs += random(400);
          for (const one of world.tasks) if (one.known === "RUNNING") world.step(one);
        } else world.step(world.tasks[random(world.tasks.length)]!);
        world.advance();
        check(command);
      }
    }
    world.apply(specsOf(6, replicas, { ...pace, onFailure: "rollback" }));
    world.settle(() => check("the last version"));
    expect(world.service!.rollout, `seed ${seed}`).toMatchObject({ kind: "update", state: "complete" });
    expect(new Set(world.commands()), `seed ${seed}`).toEqual(new Set(["v6"]));
  }
});
