import { expect, test } from "vitest";
import { ociResources } from "./resources.ts";

test("limits of v1 and v2: without swap either way", () => {
  const all = { memoryBytes: 64, memoryReservationBytes: 32, cpuShares: 512, cpus: 0.25, cpuset: "0-1", memoryNodes: "0", pids: 9 };
  const rest = { cpu: { shares: 512, quota: 25_000, period: 100_000, cpus: "0-1", mems: "0" }, pids: { limit: 9 } };
  expect(ociResources(all, 1)).toEqual({ memory: { limit: 64, swappiness: 0, reservation: 32 }, ...rest });
  expect(ociResources(all, 2)).toEqual({ memory: { limit: 64, swap: 64, reservation: 32 }, ...rest });
});

test("huge pages have a limit for each of their sizes, and 0 is one", () => {
  const hugepageLimits = [
    { pageSize: "2MB", limit: 4_194_304 },
    { pageSize: "1GB", limit: 0 },
  ];
  expect(ociResources({ hugepages: { "2MB": 4_194_304, "1GB": 0 } }, 2)).toEqual({ hugepageLimits });
});

test("nothing, and 0, is no limit", () => {
  expect(ociResources({}, 1)).toEqual({});
  expect(ociResources({ memoryBytes: 0, pids: 0 }, 2)).toEqual({});
});

test.each([
  { memoryBytes: -1 },
  { memoryBytes: 0.5 },
  { memoryBytes: 2 ** 60 },
  { memoryBytes: 10, memoryReservationBytes: 20 },
  { cpuShares: 0 },
  { cpuShares: 1 },
  { cpuShares: 262_145 },
  { cpus: 0 },
  { cpus: 0.001 },
  { cpus: Number.POSITIVE_INFINITY },
  { cpuset: "0-" },
  { memoryNodes: "all" },
  { pids: 1.5 },
  { hugepages: { "2Mi": 1 } },
  { hugepages: { "2MB": -1 } },
  { memory: 5 } as never,
])("%j is refused with the name of the limit", (resources) => {
  expect(() => ociResources(resources, 1)).toThrow(
    /^resources\.(memory|memoryBytes|memoryReservationBytes|cpuShares|cpus|cpuset|memoryNodes|pids|hugepages): /,
  );
});
