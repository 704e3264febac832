/** update: new limits reach the kernel, all or none. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

const isV2 = existsSync("/sys/fs/cgroup/cgroup.controllers");
const MIB = 1024 * 1024;
const UNLIMITED = "9223372036854771712";

describe.skipIf(!isRoot || isV2)("update on cgroup v1 (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();

  async function running(resources: Record<string, unknown> = {}): Promise<string> {
    const name = id();
    const path = bundle((config: Config) => {
      shell(config, "exec sleep 1000");
      config.linux.resources = resources;
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    return name;
  }

  /** A reader of the container's cgroup files. */
  async function limits(name: string): Promise<(file: string) => string> {
    const { pid } = JSON.parse(await ok(["state", name]));
    const cgroups = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    return (file) => {
      const controller = file.slice(0, file.indexOf("."));
      const path = new RegExp(`:(?:[\\w,]+,)?${controller}(?:,[\\w,]+)?:(.*)`).exec(cgroups)?.[1];
      const place = ["cpu,cpuacct", controller].map((entry) => `/sys/fs/cgroup/${entry}${path}/${file}`).find((entry) => existsSync(entry));
      return readFileSync(place ?? file, "utf8").trim();
    };
  }

  test("flags, one by one and together", async () => {
    const name = await running({
      memory: { limit: 32 * MIB, reservation: 16 * MIB },
      cpu: { shares: 100, quota: 50000, period: 100000 },
      pids: { limit: 20 },
    });
    const read = await limits(name);
    expect(await ok(["update", "--memory", "64m", "--pids-limit", "30", name])).toBe("");
    expect([read("memory.limit_in_bytes"), read("pids.max")]).toEqual([String(64 * MIB), "30"]);
    expect(read("memory.soft_limit_in_bytes")).toBe(String(16 * MIB));
    await ok(["update", "--memory-reservation", "40MiB", "--cpu-share", "512", name]);
    expect([read("memory.soft_limit_in_bytes"), read("cpu.shares")]).toEqual([String(40 * MIB), "512"]);
    await ok(["update", "--cpu-quota", "40000", name]);
    expect([read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")]).toEqual(["40000", "100000"]);
    await ok(["update", "--cpu-period", "80000", name]);
    expect([read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")]).toEqual(["40000", "80000"]);
    await ok(["update", "--cpu-quota", "-1", "--pids-limit", "-1", name]);
    expect([read("cpu.cfs_quota_us"), read("pids.max")]).toEqual(["-1", "max"]);
    await ok(["update", "--cpuset-cpus", "0", "--cpuset-mems", "0", name]);
    expect([read("cpuset.cpus"), read("cpuset.mems")]).toEqual(["0", "0"]);
    await ok(["update", "--memory", "-1", name]);
    expect(read("memory.limit_in_bytes")).toBe(UNLIMITED);
  });

  const hasSwap = existsSync("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes");
  test.skipIf(!hasSwap)("memory and memory+swap go up and down in whichever order the kernel takes", async () => {
    const name = await running({ memory: { limit: 32 * MIB, swap: 48 * MIB } });
    const read = await limits(name);
    const both = () => [read("memory.limit_in_bytes"), read("memory.memsw.limit_in_bytes")].map((text) => Number(text) / MIB);
    await ok(["update", "--memory", "64m", "--memory-swap", "96m", name]);
    expect(both()).toEqual([64, 96]);
    await ok(["update", "--memory", "16m", "--memory-swap", "24m", name]);
    expect(both()).toEqual([16, 24]);
    await ok(["update", "--memory-swap", "40m", name]);
    expect(both()).toEqual([16, 40]);
    await ok(["update", "--memory", "50m", "--memory-swap", "-1", name]);
    expect(read("memory.memsw.limit_in_bytes")).toBe(UNLIMITED);
  });

  test.each(["--resources=-", "-r"])("a document by %s", async (flag) => {
    const name = await running();
    const read = await limits(name);
    const document = JSON.stringify({
      memory: { limit: 48 * MIB },
      cpu: { shares: 300, cpus: "0" },
      pids: { limit: 9 },
      ...(isRunt ? { blockIO: null, devices: null } : {}),
    });
    const file = join(directory, `resources-${name}`);
    writeFileSync(file, document);
    if (flag === "-r") await ok(["update", "-r", file, name]);
    else await ok(["update", flag, name], { input: document });
    expect([read("memory.limit_in_bytes"), read("cpu.shares"), read("pids.max")]).toEqual([String(48 * MIB), "300", "9"]);
  });

  test("device rules stay what they are", async () => {
    const name = await running({ devices: [{ allow: false, access: "rwm" }] });
    const read = await limits(name);
    const before = read("devices.list");
    await ok(["update", "--resources", "-", name], {
      input: JSON.stringify({ pids: { limit: 5 }, devices: [{ allow: true, access: "rwm" }] }),
    });
    expect(read("devices.list")).toBe(before);
  });

  test.skipIf(!isRunt)("a limit of 0 processes is 1, as for create", async () => {
    const name = await running({ pids: { limit: 20 } });
    const read = await limits(name);
    await ok(["update", "--pids-limit", "0", name]);
    expect(read("pids.max")).toBe("1");
    await ok(["update", "--pids-limit", "30", name]);
    await ok(["update", "--resources=-", name], { input: JSON.stringify({ memory: { reservation: 32 * MIB }, pids: {} }) });
    expect(read("pids.max")).toBe("30");
    await ok(["update", "--resources=-", name], { input: JSON.stringify({ pids: { limit: 0 } }) });
    expect(read("pids.max")).toBe("1");
  });

  test.skipIf(!isRunt)("buffers of TCP are limited, and said of in the configuration", async () => {
    const name = await running({ memory: { kernelTCP: 32 * MIB } });
    const read = await limits(name);
    expect(read("memory.kmem.tcp.limit_in_bytes")).toBe(String(32 * MIB));
    await ok(["update", "--resources=-", name], { input: JSON.stringify({ memory: { kernelTCP: 64 * MIB } }) });
    expect(read("memory.kmem.tcp.limit_in_bytes")).toBe(String(64 * MIB));
  });

  test.skipIf(!isRunt)("when one value is refused nothing has changed", async () => {
    const name = await running({ memory: { limit: 32 * MIB }, pids: { limit: 20 }, cpu: { shares: 100 } });
    const read = await limits(name);
    const files = ["memory.limit_in_bytes", "cpu.shares", "pids.max", "cpuset.cpus"];
    const before = files.map(read);
    const result = await runtime([
      "update",
      "--memory",
      "64m",
      "--cpu-share",
      "200",
      "--cpu-quota",
      "1",
      "--cpuset-cpus",
      "0",
      "--pids-limit",
      "50",
      name,
    ]);
    expect(result).toMatchObject({ status: 1, stdout: "" });
    expect(result.stderr).toContain("cpu.cfs_quota_us: invalid argument");
    expect(files.map(read)).toEqual(before);
  });

  test.skipIf(!isRunt)("memory.checkBeforeUpdate refuses a limit below the usage", async () => {
    const name = await running({ memory: { limit: 32 * MIB } });
    const read = await limits(name);
    const result = await runtime(["update", "--resources=-", name], {
      input: JSON.stringify({ memory: { limit: 4096, checkBeforeUpdate: true } }),
    });
    expect(result).toMatchObject({ status: 1, stderr: expect.stringMatching(/rejecting memory limit 4096 <= usage \d+/) });
    expect(read("memory.limit_in_bytes")).toBe(String(32 * MIB));
  });

  test("what cannot be is refused", async () => {
    const name = await running();
    for (const args of [
      ["--memory", "lots"],
      ["--pids-limit", "ten"],
      ["-r", "/nonexistent"],
      ["--cpuset-cpus", "4000"],
    ]) {
      expect((await runtime(["update", ...args, name])).status).toBe(1);
    }
    if (isRunt) {
      const wrong = await runtime(["update", "--resources=-", name], { input: '{"memory":{"limit":"64m"}}' });
      expect(wrong.stderr).toContain("stdin:1:20: /memory/limit: expected integer, found string");
    }
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    const stopped = await runtime(["update", "--memory", "64m", name]);
    expect(stopped).toMatchObject({ status: 1, stderr: expect.stringContaining("container not running") });
    expect((await runtime(["update", "--memory", "64m", "nobody"])).stderr).toContain("does not exist");
  });
});
