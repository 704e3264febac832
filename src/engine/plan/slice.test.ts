import { expect, test } from "vitest";
import { sliceProperties } from "./task-limits.ts";

const ACCOUNTING = ["CPUAccounting=true", "MemoryAccounting=true", "TasksAccounting=true", "IOAccounting=true"];

test("T5 limits are properties of the slice", () => {
  const resources = { cpu: { quota: 25_000, period: 100_000 }, memory: { limit: 67_108_864 }, pids: { limit: 51 } };
  expect(sliceProperties(resources, "default.web.1")).toEqual([
    "Description='runtd task default.web.1'",
    ...ACCOUNTING,
    "CPUQuotaPeriodUSec=uint64 100000",
    "CPUQuotaPerSecUSec=uint64 250000",
    "MemoryMax=uint64 67108864",
    "MemorySwapMax=uint64 0",
    "TasksMax=uint64 51",
  ]);
});

test("without a limit of CPUs there is the weight of all, and a part of a percent counts as one", () => {
  expect(sliceProperties({ cpu: { shares: 1024 } }, "t")).toEqual(["Description='runtd task t'", ...ACCOUNTING, "CPUWeight=uint64 100"]);
  expect(sliceProperties({ cpu: { quota: 1_100, period: 100_000 } }, "t")).toContain("CPUQuotaPerSecUSec=uint64 20000");
});
