/** Limits of create and of update, as the kernel has them: the same input on either version. */
import { describe, expect, test } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import { shell, useHarness } from "../../support/harness.ts";

const MIB = 1024 * 1024;

const MEMORY = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const RESERVATION = { v1: "memory.soft_limit_in_bytes", v2: "memory.low" };
const SHARES = { v1: "cpu.shares", v2: "cpu.weight" };
const CPUS = { v1: "cpuset.cpus", v2: "cpuset.cpus" };
const PIDS = { v1: "pids.max", v2: "pids.max" };

/** Quota and period; on v1 they have a file each. */
function bandwidth(pid: number): string {
  if (isUnified) return readLimit(pid, { v1: "", v2: "cpu.max" });
  return ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map((v1) => readLimit(pid, { v1, v2: "" })).join(" ");
}

describe("limits", () => {
  const { bundle, id, ok, runtime } = useHarness();

  async function created(resources: Record<string, unknown>): Promise<{ name: string; pid: number }> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.resources = resources;
    });
    await ok(["create", "-b", path, name]);
    return { name, pid: JSON.parse(await ok(["state", name])).pid };
  }

  const RESOURCES = {
    memory: { limit: 64 * MIB, reservation: 32 * MIB },
    cpu: { shares: 512, quota: 50_000, period: 100_000, cpus: "0" },
    pids: { limit: 32 },
  };

  test("create sets them", async () => {
    const { pid } = await created(RESOURCES);
    expect([MEMORY, RESERVATION, SHARES, CPUS, PIDS].map((file) => readLimit(pid, file))).toEqual([
      String(64 * MIB),
      String(32 * MIB),
      isUnified ? "59" : "512",
      "0",
      "32",
    ]);
    expect(bandwidth(pid)).toBe("50000 100000");
  });

  test("update changes them, and what it does not name stays", async () => {
    const { name, pid } = await created(RESOURCES);
    await ok(["start", name]);
    await ok(["update", "--memory", "96m", "--cpu-quota", "20000", "--pids-limit", "-1", name]);
    expect([MEMORY, RESERVATION, SHARES, PIDS].map((file) => readLimit(pid, file))).toEqual([
      String(96 * MIB),
      String(32 * MIB),
      isUnified ? "59" : "512",
      "max",
    ]);
    expect(bandwidth(pid)).toBe("20000 100000");
  });

  test("a program that wants more memory than it may have is killed", async () => {
    const name = id();
    const path = bundle((config) => {
      // tail keeps a line that never ends in its memory.
      shell(config, "tail /dev/zero; echo status $?");
      config.linux.resources = { memory: { limit: 16 * MIB, swap: 16 * MIB } };
    });
    expect(await ok(["run", "-b", path, name])).toBe("status 137\n");
  });

  test("more processes than allowed are refused", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait");
      config.linux.resources = { pids: { limit: 4 } };
    });
    expect((await runtime(["run", "-b", path, name])).stderr).toContain("can't fork");
  });

  test.runIf(isUnified)("unified values are written last, as they are", async () => {
    const { pid } = await created({ ...RESOURCES, unified: { "memory.max": String(48 * MIB), "memory.high": String(40 * MIB) } });
    const directory = cgroupOf(pid, "memory");
    expect(directory).toContain("/runt-test-");
    expect([MEMORY, { v1: "", v2: "memory.high" }].map((file) => readLimit(pid, file))).toEqual([String(48 * MIB), String(40 * MIB)]);
  });
});
