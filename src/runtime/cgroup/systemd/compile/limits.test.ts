import { describe, expect, test } from "vitest";
import { compileLimits, cpuBits, cpuQuota } from "./limits.ts";
import { printProperty } from "./property.ts";

const writes = (...texts: readonly string[]) =>
  texts.map((text) => {
    const [file = "", ...value] = text.split(" ");
    return { path: `/sys/fs/cgroup/x/${file}`, value: value.join(" "), from: "/linux/resources" };
  });

/** "file value" lines in, properties out. */
function properties(version: 1 | 2, systemd: number, ...texts: readonly string[]): string[] {
  return compileLimits(version, writes(...texts), () => systemd).properties.map(printProperty);
}

const written = (version: 1 | 2, current: Readonly<Record<string, string>>, ...texts: readonly string[]) => {
  const limits = compileLimits(
    version,
    writes(...texts),
    () => 252,
    (file) => current[file],
  );
  return [...limits.properties.map(printProperty), ...limits.writes.map(({ path, value }) => `${path.replace(/.*\//, "")} ${value}`)];
};

const INFINITY = "uint64 18446744073709551615";

describe("cgroup v2", () => {
  test.each([
    ["memory.max 67108864", "MemoryMax=uint64 67108864"],
    ["memory.max max", `MemoryMax=${INFINITY}`],
    ["memory.low 5", "MemoryLow=uint64 5"],
    ["memory.min 5", "MemoryMin=uint64 5"],
    ["memory.high 5", "MemoryHigh=uint64 5"],
    ["memory.swap.max 0", "MemorySwapMax=uint64 0"],
    ["cpu.weight 100", "CPUWeight=uint64 100"],
    ["cpu.idle 1", "CPUWeight=uint64 0"],
    ["pids.max 1", "TasksMax=uint64 1"],
    ["pids.max max", `TasksMax=${INFINITY}`],
    ["cpuset.cpus 0-1,8", "AllowedCPUs=@ay [3, 1]"],
    ["cpuset.mems 0", "AllowedMemoryNodes=@ay [1]"],
  ])("%s", (write, expected) => {
    expect(properties(2, 252, write)).toEqual([expected]);
  });

  test("what systemd does not have is the file's alone", () => {
    expect(properties(2, 252, "io.bfq.weight 500", "hugetlb.2MB.max 0", "rdma.max x", "cpu.max.burst 1", "cpu.idle 0")).toEqual([]);
  });

  test("the version is not asked for where it does not matter", () => {
    const never = () => {
      throw new Error("asked");
    };
    const usual = writes("memory.max 1", "memory.low 5", "cpu.weight 100", "cpu.idle 0", "pids.max 5", "hugetlb.2MB.max 0");
    expect(compileLimits(2, usual, never).properties).toHaveLength(4);
    expect(() => compileLimits(2, writes("cpuset.cpus 0"), never)).toThrow("asked");
  });

  test("what it did not have yet", () => {
    expect(properties(2, 243, "cpuset.cpus 0", "cpuset.mems 0")).toEqual([]);
    expect(properties(2, 251, "cpu.idle 1")).toEqual([]);
    expect(properties(2, 252, "memory.oom.group 1")).toEqual([]);
    expect(properties(2, 253, "memory.oom.group 1")).toEqual(["OOMPolicy='kill'"]);
    expect(properties(2, 253, "memory.oom.group 0")).toEqual(["OOMPolicy='continue'"]);
  });

  test("the last write of a file counts, as it does in the file (unified)", () => {
    expect(properties(2, 252, "memory.max 1", "pids.max 5", "memory.max 2")).toEqual(["MemoryMax=uint64 2", "TasksMax=uint64 5"]);
  });

  test("what only the kernel can judge is not told", () => {
    expect(properties(2, 252, "memory.max 1G", "cpu.max lots", "cpuset.cpus x")).toEqual([]);
  });

  test("a quota is rounded up to a percent, in the file too", () => {
    expect(written(2, {}, "cpu.max 12345 100000", "pids.max 1")).toEqual([
      "TasksMax=uint64 1",
      "CPUQuotaPeriodUSec=uint64 100000",
      "CPUQuotaPerSecUSec=uint64 130000",
      "cpu.max 13000 100000",
      "pids.max 1",
    ]);
  });

  test("without a period the one in force counts", () => {
    const expected = ["CPUQuotaPeriodUSec=uint64 50000", "CPUQuotaPerSecUSec=uint64 20000", "cpu.max 1000"];
    expect(written(2, { "cpu.max": "max 50000\n" }, "cpu.max 1000")).toEqual(expected);
    expect(written(2, {}, "cpu.max max")).toEqual(["CPUQuotaPeriodUSec=uint64 100000", `CPUQuotaPerSecUSec=${INFINITY}`, "cpu.max max"]);
  });
});

describe("cgroup v1", () => {
  test.each([
    ["memory.limit_in_bytes 67108864", "MemoryLimit=uint64 67108864"],
    ["memory.limit_in_bytes -1", `MemoryLimit=${INFINITY}`],
    ["cpu.shares 512", "CPUShares=uint64 512"],
    ["blkio.bfq.weight 500", "BlockIOWeight=uint64 500"],
    ["pids.max 7", "TasksMax=uint64 7"],
    ["cpuset.cpus 0", "AllowedCPUs=@ay [1]"],
  ])("%s", (write, expected) => {
    expect(properties(1, 252, write)).toEqual([expected]);
  });

  test("reservation, swap and devices are the files' alone", () => {
    expect(properties(1, 252, "memory.soft_limit_in_bytes 1", "memory.memsw.limit_in_bytes 1", "devices.deny a")).toEqual([]);
  });

  test("quota and period are two files", () => {
    expect(written(1, {}, "cpu.cfs_period_us 50000", "cpu.cfs_quota_us 12345")).toEqual([
      "CPUQuotaPeriodUSec=uint64 50000",
      "CPUQuotaPerSecUSec=uint64 250000",
      "cpu.cfs_period_us 50000",
      "cpu.cfs_quota_us 12500",
    ]);
  });

  test("one of them beside what the other one is", () => {
    const current = { "cpu.cfs_period_us": "20000\n", "cpu.cfs_quota_us": "-1\n" };
    expect(written(1, current, "cpu.cfs_quota_us 10000")).toContain("CPUQuotaPerSecUSec=uint64 500000");
    expect(written(1, current, "cpu.cfs_period_us 10000")).toContain(`CPUQuotaPerSecUSec=${INFINITY}`);
  });
});

test.each([
  ["0", [0x01]],
  ["0-3", [0x0f]],
  ["1,3,5,7", [0xaa]],
  ["7-8", [0x80, 0x01]],
  ["0,16", [0x01, 0x00, 0x01]],
  [" 2 , 4-5 ", [0x34]],
  ["3,3,1-3", [0x0e]],
])("%s", (list, expected) => {
  expect([...(cpuBits(list) ?? [])]).toEqual(expected);
});

test.each(["", "a", "1-", "-1", "3-1", "1,,2", "70000", "0-99999999999"])("%j is left to the kernel", (list) => {
  expect(cpuBits(list)).toBeUndefined();
});

const INFINITY_OF_QUOTA = "uint64 18446744073709551615";

test.each([
  // quota, period, microseconds a second, quota that is written
  [50_000n, 100_000n, "uint64 500000", 50_000n],
  [100_000n, 50_000n, "uint64 2000000", 100_000n],
  // 12.345 percent becomes 13.
  [12_345n, 100_000n, "uint64 130000", 13_000n],
  [999n, 1_000n, "uint64 1000000", 1_000n],
  [5_000n, 0n, "uint64 50000", 5_000n],
  [-1n, 100_000n, INFINITY_OF_QUOTA, -1n],
  [0n, 100_000n, INFINITY_OF_QUOTA, 0n],
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
