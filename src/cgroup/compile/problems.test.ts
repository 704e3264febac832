import { expect, it } from "vitest";
import type { ResourceConfig } from "../../config/types.ts";
import { cgroupProblems } from "./problems.ts";

const V1 = { version: 1, hierarchies: [{ mountpoint: "/cg", controllers: ["memory", "cpu", "devices"] }] } as const;
const V2 = { version: 2, hierarchies: [{ mountpoint: "/cg", controllers: ["memory", "cpu"] }] } as const;
const NOTHING: ResourceConfig = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };

it("finds nothing where everything can be done", () => {
  expect(cgroupProblems(V1, { ...NOTHING, memory: { limit: 1n << 20n }, cpu: { shares: 1024n } }, false)).toEqual([]);
  expect(cgroupProblems(V2, { ...NOTHING, memory: { limit: 1n << 20n }, cpu: { shares: 1024n } }, false)).toEqual([]);
});

it("goes on behind the first problem", () => {
  const resources: ResourceConfig = {
    ...NOTHING,
    memory: { disableOOMKiller: true, swappiness: 10n },
    cpu: { realtimeRuntime: 1n, realtimePeriod: 2n },
    pids: { limit: 5n },
    unified: { bad: "1", "memory.high": "1" },
  };
  const found = cgroupProblems(V2, resources, false).map(({ kind, pointer }) => `${kind} ${pointer.replace("/linux/resources/", "")}`);
  expect(found).toEqual([
    "field memory/disableOOMKiller",
    "field memory/swappiness",
    "field cpu/realtimePeriod",
    "field cpu/realtimeRuntime",
    "controller pids/limit",
    "value unified/bad",
  ]);
});

it("tells what is adjusted from what is refused", () => {
  expect(cgroupProblems(V2, { ...NOTHING, cpu: { shares: 1n } }, false)).toMatchObject([
    { severity: "warning", pointer: "/linux/resources/cpu/shares" },
  ]);
  expect(cgroupProblems(V1, { ...NOTHING, cpu: { shares: 1n } }, false)).toMatchObject([{ severity: "error", kind: "value" }]);
});
