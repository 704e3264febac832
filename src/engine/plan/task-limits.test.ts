import { expect, test } from "vitest";
import { type TaskInput, taskSchema } from "../spec/index.ts";
import { limitWrites, taskResources } from "./task-limits.ts";

const MIB = 1024 * 1024;
const taskOf = (fields: Partial<TaskInput>, ...shares: (number | undefined)[]) =>
  taskSchema.parse({
    name: "t",
    containers: shares.map((cpuShares, index) => ({
      name: `c${index}`,
      rootfs: "/r",
      command: "x",
      ...(cpuShares === undefined ? {} : { cpuShares }),
    })),
    ...fields,
  });

test.each([
  [{}, { cpu: { shares: 1024 } }],
  [{ cpus: 0.25 }, { cpu: { quota: 25_000, period: 100_000 } }],
  [{ cpus: 1.239_999 }, { cpu: { quota: 123_999, period: 100_000 } }],
  [{ memory: "64Mi" }, { cpu: { shares: 1024 }, memory: { limit: 64 * MIB } }],
  [{ pids: 16 }, { cpu: { shares: 1024 }, pids: { limit: 16 } }],
  [
    { pids: 16, namespaces: { ipc: "shared" } },
    { cpu: { shares: 1024 }, pids: { limit: 17 } },
  ],
  [
    { cpus: 2, memory: 1, pids: 1 },
    { cpu: { quota: 200_000, period: 100_000 }, memory: { limit: 1 }, pids: { limit: 1 } },
  ],
] as const)("T6 T7 T10: %j", (fields, resources) => {
  expect(taskResources(taskOf(fields as Partial<TaskInput>, undefined))).toEqual(resources);
});

test("huge pages of a task are limits of the controller hugetlb, by their size", () => {
  const resources = taskResources(taskOf({ hugepages: { "2MB": "4Mi", "1GB": 0 } }, undefined));
  const written = (version: 1 | 2) =>
    limitWrites(resources, version).flatMap(({ controller, file, value }) => (controller === "hugetlb" ? `${file} ${value}` : []));
  expect(written(1)).toEqual([`hugetlb.2MB.limit_in_bytes ${4 * MIB}`, "hugetlb.1GB.limit_in_bytes 0"]);
  expect(written(2)).toEqual([`hugetlb.2MB.max ${4 * MIB}`, "hugetlb.1GB.max 0"]);
});

test("in a virtual machine the machine is the limit of memory, and the hypervisor needs more", () => {
  expect(taskResources(taskOf({ cpus: 2, memory: "64Mi" }, undefined), true)).toEqual({ cpu: { quota: 200_000, period: 100_000 } });
});

test.each([
  [[0, 1, 512], 516],
  [[undefined, undefined], 2048],
  [Array.from({ length: 300 }, () => 1024), 262_144],
  [[999_999], 262_144],
])("T8 T12: containers of %j weigh %d", (shares, sum) => {
  expect(taskResources(taskOf({}, ...shares)).cpu).toEqual({ shares: sum });
});

test("T6 T7 T10: as the files of both versions have it", () => {
  const limited = taskResources(taskOf({ cpus: 0.5, memory: "1Mi", pids: 5 }, undefined));
  const text = (version: 1 | 2, resources = limited) => limitWrites(resources, version).map(({ file, value }) => `${file} ${value}`);
  expect(text(1)).toEqual([
    "pids.max 5",
    "memory.limit_in_bytes 1048576",
    "memory.swappiness 0",
    "cpu.cfs_period_us 100000",
    "cpu.cfs_quota_us 50000",
  ]);
  expect(text(2)).toEqual(["pids.max 5", "memory.max 1048576", "memory.swap.max 0", "cpu.max 50000 100000"]);
  const weighted = taskResources(taskOf({}, 512));
  expect([text(1, weighted), text(2, weighted)]).toEqual([["cpu.shares 512"], ["cpu.weight 59"]]);
});
