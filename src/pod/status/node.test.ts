import { expect, test } from "vitest";
import type { NodeView } from "../../engine/index.ts";
import { type HostFacts, nodeOf } from "./node.ts";

const GIB = 1024 ** 3;
const HOST: HostFacts = {
  name: "edge-1",
  addresses: ["192.0.2.7", "2001:db8::7"],
  architecture: "x64",
  kernel: "6.1.0",
  version: "0.1.0",
  measuredMs: Date.UTC(2026, 0, 1),
  memory: { bytes: 8 * GIB, availableBytes: 2 * GIB },
  disk: { bytes: 100 * GIB, availableBytes: 50 * GIB, files: 1000, freeFiles: 900 },
  processes: { most: 1000, used: 100 },
};
const VIEW: NodeView = {
  bootId: "b",
  epoch: 1,
  lastSequence: 0,
  tasks: 1,
  ledger: { cpus: { capacity: 4, used: 0.5 }, memoryBytes: { capacity: 8 * GIB, used: GIB }, ports: [], waiting: 0 },
  conditions: [],
};
const statuses = (host: Partial<HostFacts>, view: Partial<NodeView> = {}) =>
  Object.fromEntries(nodeOf({ ...VIEW, ...view }, { ...HOST, ...host }).status!.conditions!.map(({ type, status }) => [type, status]));
const WELL = { MemoryPressure: "False", DiskPressure: "False", PIDPressure: "False", Ready: "True" };

test("P34 capacity is what the host has, allocatable what tasks have left of it", () => {
  const { status } = nodeOf(VIEW, HOST);
  expect(status!.capacity).toEqual({ cpu: "4", memory: String(8 * GIB), "ephemeral-storage": String(100 * GIB) });
  expect(status!.allocatable).toMatchObject({ cpu: "3500m", memory: String(7 * GIB) });
  expect(status!.addresses).toEqual([
    { type: "InternalIP", address: "192.0.2.7" },
    { type: "InternalIP", address: "2001:db8::7" },
    { type: "Hostname", address: "edge-1" },
  ]);
  expect(status!.nodeInfo).toMatchObject({ architecture: "amd64", bootID: "b", kernelVersion: "6.1.0" });
});

/** Kubernetes, "Node-pressure Eviction": memory.available<100Mi, nodefs.available<10%, nodefs.inodesFree<5%. */
test("P34 what is short makes its condition true, and nothing else", () => {
  const MIB = 1024 ** 2;
  expect(statuses({})).toEqual(WELL);
  expect(statuses({ memory: { bytes: GIB, availableBytes: 100 * MIB } })).toEqual(WELL);
  expect(statuses({ memory: { bytes: GIB, availableBytes: 100 * MIB - 1 } })).toEqual({ ...WELL, MemoryPressure: "True" });
  expect(statuses({ disk: { bytes: 100, availableBytes: 9, files: 100, freeFiles: 100 } })).toEqual({ ...WELL, DiskPressure: "True" });
  expect(statuses({ disk: { bytes: 100, availableBytes: 90, files: 100, freeFiles: 4 } })).toEqual({ ...WELL, DiskPressure: "True" });
  // Some file systems do not limit the number of files.
  expect(statuses({ disk: { bytes: 100, availableBytes: 90, files: 0, freeFiles: 0 } })).toEqual(WELL);
  expect(statuses({ processes: { most: 100, used: 96 } })).toEqual({ ...WELL, PIDPressure: "True" });
  expect(statuses({}, { conditions: [{ type: "StoreReadOnly", message: "disk full" }] })).toEqual({ ...WELL, Ready: "False" });
  expect(statuses({}, { conditions: [{ type: "Orphans", message: "one" }] })).toEqual(WELL);
});
