/** The tasks of one service without containers behind them, for tests of what rollouts decide. Time passes only when a test says so. */
import { expect } from "vitest";
import {
  advanceRollout,
  beginRollout,
  type Instant,
  isActive,
  lastGood,
  newRecord,
  nextRolloutLook,
  type RevisionImages,
  type RevisionNote,
  type RolloutDecision,
  type RolloutKind,
  type RolloutTold,
  readinessOf,
  reason,
  type ServiceRecord,
  scaleRollout,
  type TaskRecord,
  unprovenTasks,
  works,
} from "../../../src/engine/model/index.ts";
import { heldBack, isServing } from "../../../src/engine/run/network/services.ts";
import { type TaskSpec, taskSchema } from "../../../src/engine/spec/index.ts";

/** What becomes of a version when it runs. crashes late: each time that it has worked for half of `monitor`. */
export type Fate = "works" | "crashes" | "never ready" | "crashes late" | "wrong image" | "unhealthy";

export const BROKEN: readonly Fate[] = ["crashes", "never ready", "crashes late", "wrong image", "unhealthy"];

export const MONITOR_MS = 1000;

/** Version 3 has the command v3. */
export function specsOf(version: number, replicas: number, update: object, rollback?: object): TaskSpec[] {
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

export const commandOf = ({ spec }: Pick<TaskRecord, "spec">): string => spec.containers[0]!.command!;

/** As Services has it before the first version. */
const NOTHING: ServiceRecord = {
  ...{ version: 1, group: "g", name: "web", revisions: [] },
  rollout: {
    ...{ kind: "create", to: 0, from: null, state: "complete", reason: null },
    ...{ bootId: "b", begunMs: 0, endedMs: 0, nextAt: null, replicas: [] },
  },
};

export class RolloutWorld {
  bootId = "b";
  bootMs = 0;
  tasks: TaskRecord[] = [];
  readonly versions = new Map<number, readonly TaskSpec[]>();
  readonly images = new Map<number, RevisionImages>();
  readonly fates = new Map<string, Fate>();
  /** Since when a task works without a break, by its id. */
  readonly since = new Map<string, number>();
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

  /** As apply does: replicas that are not there are created at once, and those that are too many are removed. */
  apply(specs: readonly TaskSpec[], kind?: RolloutKind): void {
    const before = this.service ?? NOTHING;
    const isThere = this.tasks.some(({ isDeleteAsked }) => !isDeleteAsked);
    const { service, to } = this.#withRevision(before, specs, "apply");
    this.#addMissing(specs);
    this.#removeSurplus(specs);
    const from = lastGood(before);
    this.#take(beginRollout(service, { kind: kind ?? (isThere ? "update" : "create"), to, from }, this.view));
    this.advance();
  }

  /** As scale does while a rollout goes on or has stopped. `added`: specs of new replicas. */
  scale(specs: readonly TaskSpec[], added: readonly TaskSpec[] = specs): void {
    const { service, to } = this.#withRevision(this.service!, specs, "scale");
    this.#addMissing(added);
    this.#removeSurplus(specs);
    this.#take(scaleRollout(service, to, this.view));
    this.advance();
  }

  #withRevision(before: ServiceRecord, specs: readonly TaskSpec[], cause: RevisionNote["cause"]) {
    const to = (before.revisions.at(-1)?.number ?? 0) + 1;
    this.versions.set(to, specs);
    const note: RevisionNote = { number: to, cause, atMs: this.bootMs, changed: [], verdict: "unknown", reason: null };
    return { service: { ...before, revisions: [...before.revisions, note] }, to };
  }

  #addMissing(specs: readonly TaskSpec[]): void {
    for (const spec of specs)
      if (!this.tasks.some(({ name, isDeleteAsked }) => name === spec.name && !isDeleteAsked))
        this.#add(`g.${spec.name}.${++this.#count}`, spec);
  }

  #removeSurplus(specs: readonly TaskSpec[]): void {
    const names = new Set(specs.map(({ name }) => name));
    for (const { id, name } of this.tasks) if (!names.has(name)) this.#delete(id);
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
      if (step.type === "remove") this.#delete(step.id);
      else {
        if (step.order === "stopFirst" && step.current !== undefined) this.#delete(step.current.id);
        this.#add(step.id, step.spec);
      }
    }
  }

  #delete(id: string): void {
    this.change(id, { isDeleteAsked: true, desired: "STOPPED", reason: reason("Replaced", "it is removed") });
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
      this.since.delete(task.id);
      return;
    }
    if (task.desired === "STOPPED") return;
    const fate = this.fates.get(commandOf(task)) ?? "works";
    const isUp = task.known === "RUNNING" && container!.known === "RUNNING";
    const ended = { desired: "STOPPED", reason: reason("PullFailed", "there is no such image") } as const;
    const health = { failures: 3, isChecking: false, nextCheck: null, output: "" } as const;
    // It is counted when it has ended, and is up again at its next step.
    const crash = () => {
      this.since.delete(task.id);
      to("RUNNING", { known: "PULLED", restarts: container!.restarts + 1, restartAt: { bootId: this.bootId, bootMs: this.bootMs } });
    };
    if (fate === "wrong image") to("STOPPED", {}, ended);
    else if (fate === "never ready") to("RUNNING", { health: { ...health, status: "UNKNOWN" } });
    else if (fate === "unhealthy") to("RUNNING", { health: { ...health, status: "UNHEALTHY" } });
    else if (isUp && fate === "crashes") crash();
    else if (isUp && fate === "crashes late" && this.bootMs - (this.since.get(task.id) ?? this.bootMs) > MONITOR_MS / 2) crash();
    else if (!isUp) {
      to("RUNNING", { startedAt: this.now, restartAt: null });
      this.since.set(task.id, this.bootMs);
    }
  }

  /** Number of replicas of which a task works. */
  get ready(): number {
    return new Set(this.tasks.filter((one) => !one.isDeleteAsked && works(one)).map(({ name }) => name)).size;
  }

  /** The tasks to which new connections are led. */
  get serving(): readonly TaskRecord[] {
    const unproven = unprovenTasks(this.service!, this.versions.get(this.service!.rollout.to));
    const held = heldBack(this.tasks, new Set(unproven));
    return this.tasks.filter((one) => isServing(one) && readinessOf(one).state === "ready" && !held.has(one.id));
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

  /** Lets each task show what it shows next. */
  stepAll(): void {
    for (const task of this.tasks) this.step(task);
    this.advance();
  }

  commands(): string[] {
    return this.tasks.filter(({ isDeleteAsked }) => !isDeleteAsked).map(commandOf);
  }
}

/** A service whose first version is complete and good. */
export function startedWorld(replicas: number, update: object, rollback?: object): RolloutWorld {
  const world = new RolloutWorld();
  world.apply(specsOf(1, replicas, update, rollback));
  world.settle();
  expect(world.service!.rollout).toMatchObject({ kind: "create", state: "complete" });
  expect(world.service!.revisions).toMatchObject([{ number: 1, verdict: "good" }]);
  return world;
}
