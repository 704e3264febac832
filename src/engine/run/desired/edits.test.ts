/** When requests of callers are answered. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_OPTIONS, DEFAULT_QUEUE, DEFAULT_USERS } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Store } from "../../store/index.ts";
import { Mailbox } from "../mailbox.ts";
import { Turns } from "../turn.ts";
import { tasksIn } from "./codec.ts";
import type { Order } from "./draft.ts";
import { Edits } from "./edits.ts";

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
const specOf = (name: string) => taskSchema.parse({ name, containers: [{ name: "c", rootfs: "/r", command: "x" }] });

/** An engine whose actions never return a result. */
function asked(): { readonly edits: Edits; readonly orders: readonly Order[] } {
  const orders: Order[] = [];
  const capacity = { cpus: 1, memoryBytes: 1000 };
  const mailbox = new Mailbox();
  const edits = new Edits(
    mailbox,
    {
      capacity,
      users: DEFAULT_USERS,
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
