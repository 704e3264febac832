import { expect, test } from "vitest";
import { newRecord, reason, type TaskRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Draining, drainedPorts, drainOf } from "./draining.ts";

const AT = { bootId: "b", bootMs: 1, wallMs: 1 };

function task(update: object | undefined, why?: Parameters<typeof reason>[0]): TaskRecord {
  const spec = taskSchema.parse({
    ...{
      name: "web",
      network: {
        ports: [
          { container: 80, host: 8080, service: { name: "web" } },
          { container: 81, host: 8081 },
        ],
      },
    },
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
    ...(update === undefined ? {} : { update }),
  });
  const record = newRecord({ id: "g.web.1", group: "g", spec, cgroup: null, at: AT });
  return why === undefined ? record : { ...record, desired: "STOPPED", reason: reason(why, "") };
}

test("R8 a replica that is replaced or one too many keeps its connections for the time of drain, and one that a user stops or that is ill does not", () => {
  expect([drainOf(task({}, "Replaced")), drainOf(task({ drain: "1m" }, "ScaledDown")), drainOf(task({ drain: 0 }, "Replaced"))]).toEqual([
    10_000, 60_000, 0,
  ]);
  expect([drainOf(task({}, "StoppedByUser")), drainOf(task(undefined, "Replaced")), drainOf(task({}))]).toEqual([0, 0, 0]);
  const ill = task({}, "Replaced");
  const health = { status: "UNHEALTHY" } as TaskRecord["containers"][number]["health"];
  expect(drainOf({ ...ill, containers: ill.containers.map((one) => ({ ...one, health })) })).toBe(0);
  // Another port of the task is not that of a service.
  expect([...drainedPorts(ill)]).toEqual([80]);
});

test("R8 the wait ends with the last connection, or when the time is over; a task is drained once, and what cannot be counted is waited for", async () => {
  const counts = [2, 1, 0];
  const draining = new Draining({ count: async () => counts.shift() ?? 5, isCountable: ({ id }) => id !== "g.vm.1" });
  const record = task({ drain: "30s" }, "Replaced");
  const done = draining.drained(record);
  await new Promise(setImmediate);
  expect(draining.of(record.id)?.connections).toBe(2);
  await done;
  expect([draining.of(record.id), counts]).toEqual([undefined, []]);
  // For each container of the task it is asked again.
  await draining.drained(record);
  draining.retain(() => false);
  const begun = performance.now();
  await draining.drained(task({ drain: "300ms" }, "Replaced"));
  expect(performance.now() - begun).toBeGreaterThan(250);
  const machine = draining.drained({ ...task({ drain: "300ms" }, "Replaced"), id: "g.vm.1" });
  expect(draining.of("g.vm.1")).toMatchObject({ connections: null });
  await machine;
});

test("R8 a count that fails is not taken for the end of all connections", async () => {
  const counts = [new Error("no more descriptors"), 2, new Error("it has not ended within 30 s"), 0];
  const count = async () => {
    const next = counts.shift() ?? 5;
    if (typeof next === "number") return next;
    throw next;
  };
  const draining = new Draining({ count, isCountable: () => true });
  const record = task({ drain: "30s" }, "Replaced");
  const done = draining.drained(record);
  await new Promise(setImmediate);
  expect(draining.of(record.id)).toMatchObject({ connections: null });
  await done;
  expect(counts).toEqual([]);
});
