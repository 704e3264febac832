/** What fails in a turn of the engine keeps nothing else from its turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_OPTIONS, DEFAULT_QUEUE, newRecord, type TaskRecord } from "../model/index.ts";
import { taskSchema } from "../spec/index.ts";
import { Store } from "../store/index.ts";
import { tasksIn } from "./desired/codec.ts";
import type { Order } from "./desired/draft.ts";
import { Mailbox } from "./mailbox.ts";
import { Turns } from "./turn.ts";

let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-turns-"));
  store = new Store({ directory });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const recordOf = (name: string) => {
  const spec = taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  return newRecord({ id: `default.${name}.1`, group: "default", spec, cgroup: null, at });
};

function turnsWith(carryOut: (order: Order) => void, defects: unknown[]) {
  const mailbox = new Mailbox();
  const records = new Map<string, TaskRecord>();
  const options = {
    ...{
      store,
      carryOut,
      mailbox,
      records,
      succeeded: new Map(),
      services: new Map(),
      revisions: new Map(),
      pools: new Map(),
      capacity: { cpus: 1, memoryBytes: 1000 },
      options: DEFAULT_OPTIONS,
      queue: DEFAULT_QUEUE,
    },
    clock: { now: () => at },
    host: { facts: { epoch: 1, bootId: "b", revision: 0 } },
    onStore: () => {},
    onDefect: (error: unknown) => void defects.push(error),
  };
  const turns = new Turns(options);
  turns.release();
  return { turns, mailbox, records };
}

test("an event that cannot be applied is dropped and told, and the others of its turn are stored", async () => {
  const defects: unknown[] = [];
  const orders: Order[] = [];
  const { turns, mailbox, records } = turnsWith((order) => void orders.push(order), defects);
  await mailbox.edit((draft) => draft.add(recordOf("a")));
  // No event of this type exists, so that reconcile throws.
  mailbox.post("default.a.1", undefined as never);
  mailbox.post("default.a.1", {
    get type(): never {
      throw new Error("no event");
    },
  } as never);
  await mailbox.edit((draft) => draft.add(recordOf("b")));
  expect(defects.length).toBeGreaterThan(0);
  expect([...records.keys()]).toEqual(["default.a.1", "default.b.1"]);
  expect(orders.map(({ record }) => record.name)).toContain("b");
  turns.stop();
});

test("an action that cannot be begun, and a listener that throws, keep no others from theirs", async () => {
  const defects: unknown[] = [];
  const begun: string[] = [];
  const { turns, mailbox } = turnsWith(({ record }) => {
    if (record.name === "a") throw new Error("not begun");
    begun.push(record.name);
  }, defects);
  let heard = 0;
  turns.onCommit(() => {
    throw new Error("not heard");
  });
  turns.onCommit(() => heard++);
  const added = ["a", "b"].map((name) => mailbox.edit((draft) => draft.add(recordOf(name))));
  await Promise.all(added);
  await turn();
  expect(begun).toContain("b");
  expect(heard).toBeGreaterThan(0);
  expect(defects.map(String)).toEqual(expect.arrayContaining(["Error: not begun", "Error: not heard"]));
  turns.stop();
});

test("who waits for a change that cannot be stored, because of a defect, is answered", async () => {
  const defects: unknown[] = [];
  const { turns, mailbox, records } = turnsWith(() => {}, defects);
  const wrong = mailbox.edit((draft) => {
    // A circle is no JSON.
    const record = recordOf("a") as unknown as Record<string, unknown>;
    record["spec"] = { ...(record["spec"] as object), own: record };
    draft.add(record as never);
  });
  await expect(wrong).rejects.toThrow();
  expect(defects).toHaveLength(1);
  await mailbox.edit((draft) => draft.add(recordOf("b")));
  expect([...records.keys()]).toEqual(["default.b.1"]);
  turns.stop();
});

test("a change that throws half-way leaves nothing in its turn, and the others of the turn are stored", async () => {
  const defects: unknown[] = [];
  const { turns, mailbox, records } = turnsWith(() => {}, defects);
  const asked = ["a", "refused", "b"].map((name) =>
    mailbox.edit((draft) => {
      draft.add(recordOf(name));
      if (name === "refused") throw new Error("no room");
    }),
  );
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([...records.keys()]).toEqual(["default.a.1", "default.b.1"]);
  expect(tasksIn(store.load().records, store.path).map(({ id }) => id)).toEqual(["default.a.1", "default.b.1"]);
  expect(defects).toEqual([]);
  turns.stop();
});
