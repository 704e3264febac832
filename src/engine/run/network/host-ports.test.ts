import { expect, test } from "vitest";
import { newRecord, type TaskRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { servicePortsOf } from "./host-ports.ts";
import { heldBack, servicesOf } from "./services.ts";

const AT = { bootId: "b", bootMs: 1, wallMs: 1 };

function task(index: number, port: object, { ready = true, group = "g" } = {}): TaskRecord {
  const spec = taskSchema.parse({
    ...{ name: `web-${index}`, network: { ports: [{ container: 80 + index, host: 8080, service: { name: "web" }, ...port }] } },
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
  });
  const record = newRecord({ id: `${group}.${spec.name}.1`, group, spec, cgroup: null, at: AT });
  const containers = record.containers.map((one) => ({ ...one, known: "RUNNING" as const }));
  return { ...record, containers, known: ready ? "RUNNING" : "CREATED", network: { addresses: [`10.64.0.${index}/20`] } } as TaskRecord;
}

const backend = (index: number) => ({ task: `g.web-${index}.1`, address: `10.64.0.${index}/20`, port: 80 + index });

test("a port leads to the tasks of its service that are ready, each with its own port, in whatever order they are known", () => {
  const all = [task(3, {}), task(1, {}), task(2, {}, { ready: false })];
  const port = { host: 8080, protocol: "tcp", address: undefined, sticky: false };
  expect(servicePortsOf(all)).toEqual([{ ...port, to: [backend(1), backend(3)] }]);
  expect(servicePortsOf(all.toReversed())).toEqual(servicePortsOf(all));
  // It is refused, and not unknown, while none is.
  expect(servicePortsOf([task(2, {}, { ready: false })])).toEqual([{ ...port, to: [] }]);
  expect(servicePortsOf([{ ...task(2, {}), network: null } as TaskRecord])).toEqual([]);
  expect(servicePortsOf([{ ...task(1, {}), desired: "STOPPED" } as TaskRecord, task(3, {})])).toEqual([{ ...port, to: [backend(3)] }]);
});

test("a port for one address of the host comes before that for all of them; other groups have services of their own", () => {
  const all = [task(1, {}), task(2, { address: "127.0.0.2", service: { name: "web", sticky: true, unready: true } }, { ready: false })];
  expect(servicePortsOf(all).map(({ address, sticky, to }) => [address, sticky, to.length])).toEqual([
    ["127.0.0.2", true, 1],
    [undefined, false, 1],
  ]);
  expect(servicePortsOf([task(1, {}), task(1, { host: 8081 }, { group: "other" })])).toHaveLength(2);
});

test("R6 a new task that is not proven gets no connections, as long as an earlier one of its name serves", () => {
  const [earlier, later] = [task(1, {}), { ...task(1, {}), id: "g.web-1.2" }];
  const unproven = new Set([later.id]);
  const held = heldBack([earlier, later], unproven);
  expect([...held]).toEqual([later.id]);
  expect(servicePortsOf([earlier, later], held)[0]!.to.map((one) => one.task)).toEqual([earlier.id]);
  // It is better than nobody.
  expect(heldBack([{ ...earlier, desired: "STOPPED", known: "STOPPED" } as TaskRecord, later], unproven).size).toBe(0);
  const inNetwork = (record: TaskRecord) =>
    ({
      ...record,
      spec: { ...record.spec, network: { ...record.spec.network!, name: "n", services: [{ names: ["web"], ports: [] }] } },
    }) as TaskRecord;
  expect(servicesOf([earlier, later].map(inNetwork), held)[0]!.parts.map(({ id }) => id)).toEqual([earlier.id]);
});
