import fc from "fast-check";
import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { DEFAULT_OPTIONS } from "./host.ts";
import { newRecord, type QueuePolicy, reason, reconcile, schedule, type TaskRecord } from "./index.ts";
import { ledgerOf, overcommitments } from "./ledger.ts";

const host = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };
const at = (bootMs = 0) => ({ bootId: "b", bootMs, wallMs: bootMs });
const FIFO: QueuePolicy = { order: "fifo", tooLarge: "wait", portTaken: "wait" };
const BACKFILL: QueuePolicy = { ...FIFO, order: "backfill" };
const CAPACITY = { cpus: 2, memoryBytes: 1000 };

function task(name: string, { cpus = 0.01, memory = 1, ports = [] as number[] } = {}): TaskRecord {
  const spec = taskSchema.parse({
    name,
    cpus,
    memory,
    namespaces: { network: "host" },
    ports: ports.map((port) => ({ port })),
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
  });
  return newRecord({ id: `g.${name}.1`, group: "g", spec, cgroup: null, at: at() });
}

/** Decides, and applies the decisions to the records like the engine. */
function pass(records: TaskRecord[], policy: QueuePolicy, now = 0, capacity = CAPACITY): string[] {
  return schedule(records, capacity, policy, at(now)).map(({ task: id, event }) => {
    const index = records.findIndex((one) => one.id === id);
    records[index] = reconcile(records[index]!, event, host).record;
    return `${event.type} ${records[index]!.name}`;
  });
}

const waitsFor = (records: readonly TaskRecord[], name: string) => records.find((one) => one.name === name)!.waiting?.missing;

function end(records: TaskRecord[], name: string): void {
  const index = records.findIndex((one) => one.name === name);
  const { record } = reconcile(records[index]!, { type: "stop", at: at(), reason: reason("StoppedByUser", "stop") }, host);
  // No container was created yet; the pull in flight ends.
  const { containers } = record;
  records[index] = containers.reduce(
    (state, { name: container, generation }) =>
      reconcile(state, { type: "result", at: at(), container, generation, target: "PULLED" }, host).record,
    record,
  );
}

test("E12 E14 tasks start in order: a large head holds back a small one, and says which keys are short", () => {
  const records = [task("a", { memory: 600 }), task("b", { memory: 600 }), task("c", { memory: 100 })];
  expect(pass(records, FIFO)).toEqual(["admitted a", "waiting c", "waiting b"]);
  expect(waitsFor(records, "b")).toEqual(["memory: needs 600 bytes, free 400"]);
  expect(waitsFor(records, "c")).toEqual(["order: g.b.1 is before it"]);
  expect(pass(records, FIFO)).toEqual([]);
  end(records, "a");
  expect(pass(records, FIFO)).toEqual(["admitted b", "admitted c"]);
});

test("E14 backfill: 16 overtake the head at most, and none after 60 s", () => {
  const many = Array.from({ length: 20 }, (_, index) => task(`s${index}`));
  const records = [task("a", { memory: 600 }), task("b", { memory: 600 }), ...many];
  const first = pass(records, BACKFILL);
  expect(first.filter((one) => one.startsWith("admitted s"))).toHaveLength(16);
  expect(waitsFor(records, "s16")).toEqual(["order: g.b.1 is before it"]);

  const slow = [task("a", { memory: 600 }), task("b", { memory: 600 }), task("c")];
  expect(pass(slow, BACKFILL)).toContain("admitted c");
  slow.push(task("d"));
  expect(pass(slow, BACKFILL, 59_999)).toContain("admitted d");
  slow.push(task("e"));
  expect(pass(slow, BACKFILL, 60_000)).toContain("waiting e");
});

test("E11 two tasks that want the same port of the host: the second waits until the first has ended", () => {
  const records = [task("a", { ports: [8080] }), task("b", { ports: [8080] })];
  pass(records, FIFO);
  expect(waitsFor(records, "b")).toEqual(["port: 8080/tcp is taken by g.a.1"]);
  end(records, "a");
  expect(pass(records, FIFO)).toEqual(["admitted b"]);
});

test("E15 a waiting task that is stopped ends at once and takes nothing; one larger than the host waits aloud or is refused", () => {
  const records = [task("a", { memory: 600 }), task("b", { memory: 600 }), task("c", { memory: 2000 }), task("d")];
  pass(records, FIFO);
  expect(waitsFor(records, "c")).toEqual(["memory: needs 2000 bytes, free 1000: more than the host has"]);
  const stop = reconcile(records[1]!, { type: "stop", at: at(), reason: reason("StoppedByUser", "stop") }, host);
  expect(stop.record).toMatchObject({ known: "STOPPED", admission: "released" });
  expect(stop.actions).toEqual([]);
  records[1] = stop.record;
  // A task that can never run holds back no other.
  expect(pass(records, FIFO)).toEqual(["admitted d"]);
  expect(ledgerOf(records, CAPACITY).used.memoryBytes).toBe(601);
  expect(pass([task("x", { memory: 2000 })], { ...FIFO, tooLarge: "refuse" })).toEqual(["refused x"]);
});

test("E10 E16 a host that has become smaller is told as overcommitted; admitted tasks are not asked again", () => {
  const records = [task("a", { cpus: 2 })];
  expect(pass(records, FIFO)).toEqual(["admitted a"]);
  expect(overcommitments(ledgerOf(records, { cpus: 1, memoryBytes: 1000 }))).toEqual(["cpu: 2 of 1 are taken"]);
  expect(pass(records, FIFO)).toEqual([]);
});

test("E13 whatever is added and ended in whatever order: no task waits at the head that fits, and the host is never overcommitted", () => {
  const add = fc.record({ memory: fc.integer({ min: 1, max: 1000 }), cpus: fc.integer({ min: 1, max: 200 }).map((n) => n / 100) });
  const step = fc.oneof(add, fc.nat(50));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isBackfill) => {
      const records: TaskRecord[] = [];
      const started: string[] = [];
      steps.forEach((one, index) => {
        if (typeof one === "object") records.push(task(`t${index}`, one));
        else {
          const running = records.filter(({ admission }) => admission === "admitted");
          const victim = running[one % Math.max(1, running.length)];
          if (victim !== undefined) end(records, victim.name);
        }
        started.push(...pass(records, isBackfill ? BACKFILL : FIFO).filter((line) => line.startsWith("admitted ")));
        const running = records.filter(({ admission }) => admission === "admitted");
        const memory = running.reduce((sum, { spec }) => sum + spec.memory!, 0);
        const cpus = running.reduce((sum, { spec }) => sum + Math.round(spec.cpus! * 1000), 0);
        expect(memory).toBeLessThanOrEqual(1000);
        expect(cpus).toBeLessThanOrEqual(2000);
        const head = records.find(({ admission }) => admission === "waiting");
        if (head !== undefined) expect(memory + head.spec.memory! > 1000 || cpus + Math.round(head.spec.cpus! * 1000) > 2000).toBe(true);
      });
      const order = records.filter(({ admission }) => admission !== "waiting").map(({ name }) => `admitted ${name}`);
      if (!isBackfill) expect(started).toEqual(order);
      else expect([...started].sort()).toEqual([...order].sort());
    }),
  );
});
