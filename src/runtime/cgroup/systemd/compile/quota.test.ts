import { expect, test } from "vitest";
import { printProperty } from "./property.ts";
import { cpuQuota } from "./quota.ts";

const INFINITY = "uint64 18446744073709551615";

test.each([
  // quota, period, microseconds a second, quota that is written
  [50_000n, 100_000n, "uint64 500000", 50_000n],
  [100_000n, 50_000n, "uint64 2000000", 100_000n],
  // 12.345 percent becomes 13.
  [12_345n, 100_000n, "uint64 130000", 13_000n],
  [999n, 1_000n, "uint64 1000000", 1_000n],
  [5_000n, 0n, "uint64 50000", 5_000n],
  [-1n, 100_000n, INFINITY, -1n],
  [0n, 100_000n, INFINITY, 0n],
])("%s of %s", (quota, period, perSecond, written) => {
  const result = cpuQuota(quota, period, () => 252);
  expect(result.properties.map(printProperty)).toEqual([
    `CPUQuotaPeriodUSec=uint64 ${period || 100_000n}`,
    `CPUQuotaPerSecUSec=${perSecond}`,
  ]);
  expect(result.quota).toBe(written);
});

test("before systemd 242 there is no period", () => {
  expect(cpuQuota(50_000n, 100_000n, () => 241).properties.map(printProperty)).toEqual(["CPUQuotaPerSecUSec=uint64 500000"]);
});
