/** When requests of callers are answered. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEFAULT_OPTIONS, DEFAULT_QUEUE, DEFAULT_USERS, revisionOf, USERS_OF_A_TASK } from "../../model/index.ts";
import { type TaskInput, type TaskSpec, taskSchema, withTemplate } from "../../spec/index.ts";
import { Store, StoreError } from "../../store/index.ts";
import { Mailbox } from "../mailbox.ts";
import { Turns } from "../turn.ts";
import type { ApplyOptions } from "./apply.ts";
import { hostFactsIn, servicesIn, tasksIn } from "./codec.ts";
import type { Order } from "./draft.ts";
import { Edits } from "./edits.ts";
import { applyWatched, removeWatched, type WatchedSource } from "./watched.ts";

let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-edits-"));
  store = new Store({ directory });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const specOf = (name: string, more: Partial<TaskInput> = {}) =>
  taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x" }], ...more });

/** An engine whose actions never return a result. @param ranges how many tasks may have users of their own */
function asked(ranges = 1000): { readonly edits: Edits; readonly orders: readonly Order[] } {
  const orders: Order[] = [];
  const capacity = { cpus: 1, memoryBytes: 1000 };
  const mailbox = new Mailbox();
  const edits = new Edits(
    mailbox,
    {
      capacity,
      users: { ...DEFAULT_USERS, count: ranges * USERS_OF_A_TASK },
      cgroupParent: "/runt",
      cgroupManager: "cgroupfs",
      hasTaskLimits: false,
      hasVolumes: () => false,
      isKept: () => false,
    },
    { epoch: 1, bootId: "b", revision: 0 },
  );
  const turns = new Turns({
    ...{ store, mailbox, capacity, host: edits, options: DEFAULT_OPTIONS, queue: DEFAULT_QUEUE },
    ...{ records: new Map(), succeeded: new Map(), services: new Map(), revisions: new Map(), pools: new Map() },
    clock: { now: () => at },
    carryOut: (order) => void orders.push(order),
    onStore: () => {},
    onDefect: (error) => {
      throw error;
    },
  });
  turns.release();
  return { edits, orders };
}

test("E35 many who apply at once are answered by the turn that stores their tasks, while nothing of them has come about", async () => {
  const many = 200;
  const { edits, orders } = asked();
  let answered = 0;
  for (let count = 0; count < many; count++) {
    void edits
      .make(undefined, (commands) => commands.apply({ tasks: [specOf(`t${count}`)], pools: [] }, "default", {}))
      .then(() => answered++);
  }
  // One turn stores all of them, and their promises resolve in the same turn, without a timer.
  for (let loop = 0; loop < 2; loop++) await turn();
  expect(answered).toBe(many);
  const stored = tasksIn(store.load().records, store.path);
  expect([stored.length, new Set(stored.map(({ known }) => known))]).toEqual([many, new Set(["NONE"])]);
  expect(new Set(orders.map(({ action }) => action.type))).toEqual(new Set(["pull"]));
});

const stored = () => {
  const { records } = store.load();
  return { tasks: tasksIn(records, store.path), services: servicesIn(records), facts: hostFactsIn(records) };
};
const apply = (edits: Edits, spec: TaskSpec, group = "default", options: ApplyOptions = {}) =>
  edits.make(undefined, (commands) => commands.apply({ tasks: [spec], pools: [] }, group, options));
const source = (name: string, digest = "d1"): WatchedSource => ({
  ...{ path: `/srv/${name}.yaml`, group: "default", digest, fileSystem: "/", isProject: false, gone: [] },
});
const watch = (edits: Edits, name: string, digest?: string) =>
  edits.make(undefined, (commands) => applyWatched(commands, [specOf(name)], source(name, digest)));
const unwatch = (edits: Edits, name: string) => edits.make(undefined, (commands) => removeWatched(commands, source(name).path));

/** The disk is full for one transaction. */
function fillOnce(): void {
  vi.spyOn(store, "commit").mockImplementationOnce(() => {
    throw new StoreError("not-written", store.path, "the disk is full");
  });
}

test("a watched file counts as applied, and as removed, only when that was stored", async () => {
  const { edits } = asked();
  const digests = () => Object.values(edits.facts.watched ?? {}).map(({ digest }) => digest);
  await watch(edits, "web");
  fillOnce();
  await expect(watch(edits, "web", "d2")).rejects.toMatchObject({ code: "not-written" });
  expect(digests()).toEqual(["d1"]);
  fillOnce();
  await expect(unwatch(edits, "web")).rejects.toMatchObject({ code: "not-written" });
  expect(digests()).toEqual(["d1"]);
  // The next change stores no part of those that were refused.
  await watch(edits, "other");
  expect(stored().facts?.watched).toMatchObject({ "/srv/web.yaml": { digest: "d1" }, "/srv/other.yaml": { digest: "d1" } });
  await unwatch(edits, "web");
  expect(Object.keys(stored().facts?.watched ?? {})).toEqual(["/srv/other.yaml"]);
});

test("changes of one turn keep what each of them records of files, projects and interfaces", async () => {
  const { edits } = asked();
  const project = (group: string) => apply(edits, specOf(group), group, { isProject: true, from: `/${group}` });
  const attached = { name: "eth7", deadline: at, attachedWallMs: 0, task: null };
  const attach = edits.changeInterfaces(
    (all) => ({ interfaces: [...all, attached], told: [{ interface: attached, state: "pending" }] }),
    undefined,
  );
  await Promise.all([watch(edits, "a"), project("p"), watch(edits, "b"), attach, project("q"), unwatch(edits, "a")]);
  const { facts } = stored();
  expect(facts).toEqual(edits.facts);
  expect(Object.keys(facts?.watched ?? {})).toEqual(["/srv/b.yaml"]);
  expect(facts?.projects).toEqual({ p: "/p", q: "/q" });
  expect(facts?.interfaces).toEqual([attached]);
});

test("of a request that is refused half-way nothing is stored, and no number is given out twice", async () => {
  const { edits, orders } = asked(3);
  const own: Partial<TaskInput> = { containers: [{ name: "c", image: "docker://registry.invalid/a:1" }], privateUsers: true };
  const first = specOf("web", { ...own, update: {}, replica: { of: "web", index: 0 } });
  const spec = withTemplate(first, { task: specOf("web-xINDEX", own), index: "xINDEX" });
  await apply(edits, spec);
  const before = stored();
  const scale = edits.make(undefined, ({ services }) => services.scale(services.get({ group: "default", name: "web" })!, 10));
  const others = [apply(edits, specOf("a")), apply(edits, specOf("b"))];
  await expect(scale).rejects.toMatchObject({ code: "no-room" });
  await Promise.all(others);
  const { tasks, services } = stored();
  expect(tasks.map(({ name }) => name)).toEqual(["web", "a", "b"]);
  expect(services).toEqual(before.services);
  expect(new Set(orders.map(({ record }) => record.name))).toEqual(new Set(["web", "a", "b"]));
  // The refused request has given out a number for each task that it had added.
  expect(tasks.slice(1).map(({ id }) => revisionOf(id))).toEqual([edits.revision - 1, edits.revision]);
  expect(edits.revision).toBeGreaterThan(revisionOf(tasks[0]!.id) + 2);
  expect(stored().facts?.revision).toBe(edits.revision);
});
