import { expect, test, vi } from "vitest";
import {
  DEFAULT_OPTIONS,
  DEFAULT_USERS,
  type PoolRecord,
  type RevisionRecord,
  type ServiceRecord,
  serviceKey,
  type TaskRecord,
} from "../../model/index.ts";
import { specDigest, type TaskSpec, taskSchema } from "../../spec/index.ts";
import type { Succeeded } from "./codec.ts";
import { Commands } from "./commands.ts";
import { Draft } from "./draft.ts";

const KEY = serviceKey({ group: "g", name: "web" });
const TEMPLATE = JSON.stringify({
  task: { name: "web-xINDEX", containers: [{ name: "c", rootfs: "/r", command: "COMMAND" }] },
  index: "xINDEX",
});

/** The service web, whose tasks are what a test says, and no containers are behind them. */
class Host {
  readonly records = new Map<string, TaskRecord>();
  readonly services = new Map<string, ServiceRecord>();
  readonly revisions = new Map<string, RevisionRecord>();
  /** How often the containers of a spec were read. */
  reads = 0;
  #revision = 0;
  #bootMs = 0;

  make<T>(change: (commands: Commands) => T): T {
    const stored = { succeeded: new Map<string, Succeeded>(), pools: new Map<string, PoolRecord>() };
    const at = { bootId: "b", bootMs: this.#bootMs, wallMs: this.#bootMs };
    const draft = new Draft(
      {
        ...stored,
        records: this.records,
        services: this.services,
        revisions: this.revisions,
        host: { facts: { epoch: 1, bootId: "b", revision: 0 } },
      },
      DEFAULT_OPTIONS,
      at,
    );
    const present = { capacity: { cpus: 1, memoryBytes: 1000 }, users: DEFAULT_USERS, hasVolumes: () => false, isKept: () => false };
    const commands = new Commands(draft, { ...present, isKept: () => false, cgroupOf: () => null, by: undefined }, this.#revision);
    const answer = change(commands);
    this.#revision = commands.revision;
    take(this.records, draft.touched);
    take(this.services, draft.services.changes);
    take(this.revisions, draft.revisions.changes);
    return answer;
  }

  specs(command: string, replicas: number, update: object): TaskSpec[] {
    return Array.from({ length: replicas }, (_, index) => {
      const spec = taskSchema.parse({
        ...{ name: `web-${index}`, replica: { of: "web", index }, update: { order: "start-first", monitor: "1s", ...update } },
        containers: [{ name: "c", rootfs: "/r", command }],
        annotations: { "runt.dev/replica": TEMPLATE.replace("COMMAND", command) },
      });
      const { containers } = spec;
      const get = () => {
        this.reads++;
        return containers;
      };
      return Object.defineProperty(spec, "containers", { get, enumerable: true });
    });
  }

  apply(command: string, replicas: number, update: object): void {
    this.make((commands) => commands.apply({ tasks: this.specs(command, replicas, update), pools: [] }, "g", {}));
  }

  scale(replicas: number): number {
    return this.make(({ services }) => services.scale(services.get({ group: "g", name: "web" })!, replicas));
  }

  /** All tasks run, and those with a command of `crashing` have been started again. Then time passes. */
  run(...crashing: string[]): void {
    for (const [id, one] of this.records) {
      if (one.isDeleteAsked) this.records.delete(id);
      else {
        const restarts = crashing.includes(one.spec.containers[0]!.command!) ? 1 : 0;
        const containers = one.containers.map((container) => ({ ...container, known: "RUNNING", restarts }) as const);
        this.records.set(id, { ...one, known: "RUNNING", containers });
      }
    }
    for (let at = 0; at < 10; at++) {
      this.make(({ services }) => services.advance(KEY));
      this.#bootMs += 600;
    }
  }

  /** Commands of the tasks that stay, by name. */
  get commands(): string[] {
    const all = [...this.records.values()].filter(({ isDeleteAsked }) => !isDeleteAsked);
    return all.map(({ name, spec }) => `${name} ${spec.containers[0]!.command}`).sort();
  }

  get service(): ServiceRecord {
    return this.services.get(KEY)!;
  }
}

function take<T>(map: Map<string, T>, changes: ReadonlyMap<string, T | undefined>): void {
  for (const [key, value] of changes) value === undefined ? map.delete(key) : map.set(key, value);
}

/** Version v1 is good in so many replicas. */
function hosted(replicas: number, update: object): Host {
  const host = new Host();
  host.apply("v1", replicas, update);
  host.run();
  expect(host.service.rollout).toMatchObject({ kind: "create", state: "complete" });
  return host;
}

test("R7 scale while a rollout is paused because its version is broken: it stays so, and new replicas have the last good version", () => {
  const host = hosted(3, { onFailure: "pause" });
  host.apply("v2", 3, { onFailure: "pause" });
  host.run("v2");
  const before = host.commands;
  expect(before).toEqual(["web-0 v1", "web-0 v2", "web-1 v1", "web-2 v1"]);
  const { reason } = host.service.rollout;
  expect(host.scale(5)).toBe(3);
  expect(host.service.rollout).toMatchObject({ to: 3, from: 1, state: "paused", reason });
  expect(host.service.revisions.at(-1)).toMatchObject({ number: 3, cause: "scale", verdict: "failed", changed: ["replicas"] });
  expect(host.commands).toEqual([...before, "web-3 v1", "web-4 v1"]);
  expect(host.service.rollout.replicas.map(({ state }) => state)).toEqual(["failed", "waiting", "waiting", "waiting", "waiting"]);
  host.run("v2");
  expect(host.service.rollout.state).toBe("paused");
  // The number that it has already changes nothing.
  expect(host.scale(5)).toBe(3);
  expect(host.service.revisions).toHaveLength(3);
  host.scale(2);
  expect(host.service.rollout).toMatchObject({ to: 4, state: "paused" });
  expect(host.commands).toEqual(["web-0 v1", "web-0 v2", "web-1 v1"]);
});

test("R7 scale after a rollout has failed: it has failed as before, and new replicas have the last good version", () => {
  const update = { onFailure: "continue", parallelism: 0 };
  const host = hosted(2, update);
  host.apply("v2", 2, update);
  host.run("v2");
  expect(host.service.rollout.state).toBe("failed");
  host.scale(3);
  expect(host.service.rollout).toMatchObject({ to: 3, state: "failed" });
  expect(host.service.rollout.replicas.map(({ state }) => state)).toEqual(["failed", "failed", "left"]);
  expect(host.commands.at(-1)).toBe("web-2 v1");
  // The first version of a service is the only one that new replicas can have.
  const first = new Host();
  first.apply("v1", 1, {});
  const [task] = first.records.values();
  first.records.set(task!.id, { ...task!, known: "STOPPED", desired: "STOPPED" });
  first.make(({ services }) => services.advance(KEY));
  expect(first.service.rollout.state).toBe("failed");
  first.scale(2);
  expect(first.service.rollout.state).toBe("failed");
  expect(first.commands).toEqual(["web-0 v1", "web-1 v1"]);
});

test("R7 scale while a rollout goes on: no replica that it has begun with is replaced again or called good", () => {
  const host = hosted(3, {});
  host.apply("v2", 3, { minReady: "20s" });
  host.run();
  const [moving, ...others] = host.service.rollout.replicas;
  expect(moving).toMatchObject({ state: "starting" });
  host.scale(4);
  expect(host.service.rollout.replicas).toMatchObject([moving!, ...others, { name: "web-3", state: "starting" }]);
  expect(host.commands).toEqual(["web-0 v1", "web-0 v2", "web-1 v1", "web-2 v1", "web-3 v2"]);
});

test("R12 twice as many replicas take twice the work: specs are read a bounded number of times for each, and so are all tasks", () => {
  const readsOf = (replicas: number) => {
    const host = hosted(replicas, { parallelism: 0 });
    const image = { reference: "a", digest: "d", manifest: "m", config: null, via: "cache", stopSignal: null, healthCheck: null } as const;
    for (const [key, one] of host.revisions) host.revisions.set(key, { ...one, images: { a: image } });
    host.reads = 0;
    host.apply("v1", replicas * 2, { parallelism: 0 });
    const applied = host.reads;
    host.run();
    return [applied, host.reads - applied];
  };
  const digested = new Host();
  const [spec] = digested.specs("v1", 1, {});
  specDigest(spec!);
  const once = digested.reads;
  specDigest(spec!);
  expect(digested.reads).toBe(once);
  const [few, many] = [readsOf(40), readsOf(80)];
  for (const [at, count] of many.entries()) expect(count, `reads for 80 replicas, ${few[at]} for 40`).toBeLessThan(few[at]! * 2.5);
  const all = vi.spyOn(Draft.prototype, "all");
  const listings = (replicas: number) => {
    const host = hosted(2, {});
    all.mockClear();
    host.scale(replicas);
    const scaled = all.mock.calls.length;
    host.apply("v2", replicas, { parallelism: 0 });
    return [scaled, all.mock.calls.length - scaled];
  };
  expect(listings(40)).toEqual(listings(10));
  all.mockRestore();
});
