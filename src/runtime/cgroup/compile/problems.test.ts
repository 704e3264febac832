import { expect, it } from "vitest";
import type { ResourceConfig } from "../../config/index.ts";
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

it("says what to do about a warning that no other value would answer", () => {
  const remedy = (resources: Partial<ResourceConfig>, rootless = false, facts: typeof V1 | typeof V2 = V2) =>
    cgroupProblems(facts, { ...NOTHING, ...resources }, rootless).map((problem) => problem.remedy);
  const devices = [{ allow: false, type: "a", major: -1, minor: -1, access: "rwm", from: "" }] as const;
  for (const facts of [V1, V2]) expect(remedy({ devices }, true, facts)).toEqual(["leave the rules out, or create the container as root"]);
  expect(remedy({ memory: { kernelTCP: 1n } })).toEqual(["leave it out"]);
  expect(remedy({ cpu: { shares: 2n, idle: 1n } })).toEqual(["leave one of them out"]);
  expect(remedy({ cpu: { shares: 1n } })).toEqual([undefined]);
});
