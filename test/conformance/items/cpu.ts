import { readFileSync } from "node:fs";
import * as assert from "../assert.ts";
import { cgroupsBelow, isUnified } from "../cgroups.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { applied, type File, limitOf, limits, nameOf, onlyV1, update } from "./resources.ts";

const SHARES = { controller: "cpu", v1: "cpu.shares", v2: "cpu.weight" };
const QUOTA = { controller: "cpu", v1: "cpu.cfs_quota_us", v2: "cpu.max" };
const PERIOD = { controller: "cpu", v1: "cpu.cfs_period_us", v2: "cpu.max" };
const BURST = { controller: "cpu", v1: "cpu.cfs_burst_us", v2: "cpu.max.burst" };
const IDLE = { controller: "cpu", v1: "cpu.idle", v2: "cpu.idle" };
const CPUS = { controller: "cpuset", v1: "cpuset.cpus", v2: "cpuset.cpus" };
const CPU = "/linux/resources/cpu";

/** Both numbers of the file after create with these, whatever the version. */
async function bandwidth(c: Context, cpu: object): Promise<string> {
  if (isUnified()) return limitOf(c, { cpu }, QUOTA);
  const [quota, period] = [await limitOf(c, { cpu }, QUOTA), await limitOf(c, { cpu }, PERIOD)];
  return `${quota === "-1" ? "max" : quota} ${period}`;
}

export const cpu = group("CPU", "resources: cpu", ({ must }) => {
  must(1, "shares are the weight; cgroup v2 converts them by a curve that gives 1024 the weight 100", async (c) => {
    await applied(c, { cpu: { shares: 2048 } }, SHARES, { v1: "2048", v2: "174" });
    if (isUnified())
      for (const [shares, weight] of [
        [2, "1"],
        [512, "59"],
        [131072, "5478"],
      ] as const)
        assert.equal(await limitOf(c, { cpu: { shares } }, SHARES), weight);
  });
  must(2, "shares that the kernel would clip are refused or end at its bounds", async (c) => {
    for (const [shares, v1, v2] of [
      [1, "2", "1"],
      [1_000_000, "262144", "10000"],
    ] as const) {
      const container = c.container(c.bundle(limits({ cpu: { shares } })));
      if ((await c.call(["create", "--bundle", container.bundle, container.id])).status !== 0) continue;
      assert.equal(await container.limit("cpu", nameOf(SHARES) ?? ""), isUnified() ? v2 : v1);
    }
  });
  must(3, "quota and period are the bandwidth; the period is 100000 unless given", async (c) => {
    assert.equal(await bandwidth(c, { quota: 30_000, period: 60_000 }), "30000 60000");
    assert.equal(await bandwidth(c, { quota: 40_000 }), "40000 100000");
    assert.equal(await bandwidth(c, { period: 50_000 }), "max 50000");
  });
  must(4, "quota -1 is no limit; a value that is too small for the kernel is refused", async (c) => {
    assert.equal(await bandwidth(c, { quota: -1, period: 60_000 }), "max 60000");
    await c.refused(limits({ cpu: { quota: 500, period: 60_000 } }), /^\/linux\/resources\/cpu/);
  });
  must(5, "burst is at most the quota", async (c) => {
    await applied(c, { cpu: { quota: 30_000, period: 60_000, burst: 20_000 } }, BURST, "20000");
    await c.refused(limits({ cpu: { quota: 30_000, period: 60_000, burst: 40_000 } }), `${CPU}/burst`);
  });
  must(6, "updates work with any order of files that the kernel needs", async (c) => {
    const container = await c.create(limits({ cpu: { quota: 30_000, period: 60_000, burst: 20_000 } }));
    for (const [quota, period, burst] of [
      [90_000, 100_000, 80_000],
      [10_000, 50_000, 5_000],
      [900_000, 1_000_000, 0],
    ] as const) {
      await update(container, { cpu: { quota, period, burst } });
      const read = (file: File) => container.limit("cpu", nameOf(file) ?? "");
      if (isUnified()) assert.equal(await read(QUOTA), `${quota} ${period}`);
      else assert.deepEqual([await read(QUOTA), await read(PERIOD)], [String(quota), String(period)]);
      assert.equal(await read(BURST), String(burst));
    }
  });
  must(7, "realtimeRuntime and realtimePeriod have files on v1 only", async (c) => {
    const values = { realtimeRuntime: 0, realtimePeriod: 500_000 };
    await onlyV1(c, { cpu: values }, { controller: "cpu", v1: "cpu.rt_period_us" }, "500000", `${CPU}/realtimePeriod`);
    if (isUnified()) await c.refused(limits({ cpu: { realtimeRuntime: 5000 } }), `${CPU}/realtimeRuntime`);
    else {
      // The parent has no real-time budget, so asking for one is refused by the kernel: the file is written.
      await c.refused(limits({ cpu: { realtimeRuntime: 5_000, realtimePeriod: 500_000 } }), `${CPU}/realtimeRuntime`);
    }
  });
  must(8, "cpus and mems pin the container; new levels above it get the values of their parents", async (c) => {
    await applied(c, { cpu: { cpus: "0", mems: "0" } }, CPUS, "0");
    assert.equal(await limitOf(c, { cpu: { mems: "0" } }, { controller: "cpuset", v1: "cpuset.mems", v2: "cpuset.mems" }), "0");
    if (isUnified()) return;
    const container = await c.create((config) => {
      limits({ cpu: { cpus: "0" } })(config);
      config.linux.cgroupsPath = `${c.cgroup}/deep/er`;
    });
    for (const level of cgroupsBelow(`${c.cgroup}/deep`).filter((path) => path.includes("/cpuset/"))) {
      assert.notEqual(readFileSync(`${level}/cpuset.mems`, "utf8").trim(), "", level);
    }
    assert.match((await container.status()).get("Cpus_allowed_list") ?? "", /^0$/);
  });
  must(9, "idle makes the cgroup run only on idle CPUs", (c) => applied(c, { cpu: { idle: 1 } }, IDLE, "1"));
});
