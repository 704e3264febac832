/** The systemd driver with a real systemd. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import type { Config } from "../../support/config.ts";
import { shell, useHarness } from "../../support/harness.ts";
import { show, systemctl, systemdRuns, units } from "../../support/systemd.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;
const MEMORY = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const PIDS = { v1: "pids.max", v2: "pids.max" };
const SHARES = { v1: "cpu.shares", v2: "cpu.weight" };
const RESOURCES = {
  memory: { limit: 64 * MIB },
  cpu: { shares: 512, quota: 12_345, period: 50_000, cpus: "0" },
  pids: { limit: 32 },
};
const PREFIX = `t${process.pid}`;
/** Each takes a second or two in an emulated machine. */
const CONTAINERS = Number(process.env["RUNT_TEST_CONTAINERS"] ?? 24);
const WORKERS = 8;

describe.skipIf(!systemdRuns)("the systemd driver (needs systemd)", () => {
  const { bundle, id, ok, runtime } = useHarness();

  afterAll(async () => {
    expect(await units(`${PREFIX}-*`)).toEqual([]);
  });

  function prepared(name: string, change: (config: Config) => void = () => {}): string {
    return bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.resources = RESOURCES;
      config.linux.cgroupsPath = `:${PREFIX}:${name}`;
      change(config);
    });
  }

  async function created(change?: (config: Config) => void): Promise<{ name: string; unit: string; pid: number }> {
    const name = id();
    await ok(["--systemd-cgroup", "create", "-b", prepared(name, change), name]);
    return { name, unit: `${PREFIX}-${name}.scope`, pid: JSON.parse(await ok(["state", name])).pid };
  }

  test("create: a scope with the limits as properties, and the kernel has them", async () => {
    const { unit, pid } = await created();
    expect(
      await show(
        unit,
        "Description",
        "Slice",
        "Delegate",
        "DefaultDependencies",
        "MemoryAccounting",
        "TasksMax",
        "CPUQuotaPerSecUSec",
        "AllowedCPUs",
      ),
    ).toEqual({
      Description: expect.stringMatching(/^runt container /),
      Slice: "system.slice",
      Delegate: "yes",
      DefaultDependencies: "no",
      MemoryAccounting: "yes",
      TasksMax: "32",
      // Rounded up to a percent.
      CPUQuotaPerSecUSec: "250ms",
      AllowedCPUs: "0",
    });
    expect(await show(unit, isUnified ? "MemoryMax" : "MemoryLimit")).toEqual({
      [isUnified ? "MemoryMax" : "MemoryLimit"]: String(64 * MIB),
    });
    for (const controller of ["memory", "pids", "cpu", "freezer"])
      expect(cgroupOf(pid, controller)).toMatch(new RegExp(`/system.slice/${unit}$`));
    expect([MEMORY, PIDS, SHARES].map((file) => readLimit(pid, file))).toEqual([String(64 * MIB), "32", isUnified ? "59" : "512"]);
    expect(isUnified ? readLimit(pid, { v1: "", v2: "cpu.max" }) : readLimit(pid, { v1: "cpu.cfs_quota_us", v2: "" })).toMatch(/^12500\b/);
  });

  test("every process of the container is in the unit, that of exec too", async () => {
    const { name, unit } = await created();
    await ok(["start", name]);
    await ok(["exec", "-d", name, "sleep", "999"]);
    const { ControlGroup = "" } = await show(unit, "ControlGroup");
    expect(ControlGroup).toBe(`/system.slice/${unit}`);
    const root = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/systemd";
    expect(readFileSync(`${root}${ControlGroup}/cgroup.procs`, "utf8").trim().split("\n")).toHaveLength(2);
  });

  test("update: systemd and the kernel have the new limits, and a reload changes nothing", async () => {
    const { name, unit, pid } = await created();
    await ok(["start", name]);
    await ok(["update", "--memory", "96m", "--pids-limit", "-1", "--cpu-share", "1024", "--cpu-quota", "20000", name]);
    const read = () => [MEMORY, PIDS, SHARES].map((file) => readLimit(pid, file));
    const expected = [String(96 * MIB), "max", isUnified ? "100" : "1024"];
    expect(read()).toEqual(expected);
    expect(await show(unit, "TasksMax", "CPUQuotaPerSecUSec")).toEqual({ TasksMax: "infinity", CPUQuotaPerSecUSec: "400ms" });
    await systemctl("daemon-reload");
    expect(read()).toEqual(expected);
  });

  test("an update that the kernel refuses leaves systemd with the old limits", async () => {
    const { name, unit, pid } = await created();
    await ok(["start", name]);
    const result = await runtime(["update", "--pids-limit", "99", "--cpuset-cpus", "777", name]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("cpuset.cpus");
    expect(await show(unit, "TasksMax", "AllowedCPUs")).toEqual({ TasksMax: "32", AllowedCPUs: "0" });
    expect(readLimit(pid, PIDS)).toBe("32");
  });

  test("device rules survive a reload", async () => {
    const { name } = await created((config) => {
      shell(config, "sleep 1000");
      config.linux.resources = { devices: [{ allow: false, access: "rwm" }] };
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["dev"] });
      for (const set of ["bounding", "effective", "permitted"]) config.process.capabilities[set]?.push("CAP_MKNOD");
    });
    await ok(["start", name]);
    const probe = [
      "exec",
      name,
      "sh",
      "-c",
      "head -c 1 /dev/zero | wc -c; [ -e /tmp/kmsg ] || mknod /tmp/kmsg c 1 11; head -c 1 /tmp/kmsg 2>&1",
    ];
    const before = await runtime(probe);
    expect(before.stdout).toBe("1\nhead: /tmp/kmsg: Operation not permitted\n");
    await systemctl("daemon-reload");
    expect(await runtime(probe)).toEqual(before);
  });

  test("run in the foreground leaves neither unit nor cgroup", async () => {
    const name = id();
    const path = prepared(name, (config) => {
      shell(config, "grep -E ':(memory|):' /proc/self/cgroup");
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
    });
    expect(await ok(["--systemd-cgroup", "run", "-b", path, name])).toContain(`/system.slice/${PREFIX}-${name}.scope`);
    expect(await units(`${PREFIX}-${name}*`)).toEqual([]);
    expect(existsSync(`/sys/fs/cgroup/system.slice/${PREFIX}-${name}.scope`)).toBe(false);
    expect(existsSync(`/sys/fs/cgroup/freezer/system.slice/${PREFIX}-${name}.scope`)).toBe(false);
  });

  test("nested slices, and a slice as the container's unit", async () => {
    const slice = `${PREFIX}-a-b.slice`;
    const { unit, pid } = await created((config) => {
      config.linux.cgroupsPath = config.linux.cgroupsPath.replace(/^/, slice);
    });
    expect(await show(unit, "Slice")).toEqual({ Slice: slice });
    expect(cgroupOf(pid, "pids")).toMatch(new RegExp(`/${PREFIX}.slice/${PREFIX}-a.slice/${slice}/${unit}$`));
    const own = await created((config) => {
      config.linux.cgroupsPath = `::${PREFIX}-own.slice`;
    });
    expect(cgroupOf(own.pid, "memory")).toMatch(new RegExp(`/${PREFIX}.slice/${PREFIX}-own.slice$`));
    expect(readLimit(own.pid, PIDS)).toBe("32");
    await ok(["delete", "--force", own.name]);
    await ok(["delete", "--force", unit.slice(PREFIX.length + 1, -".scope".length)]);
    await systemctl("stop", slice, `${PREFIX}-a.slice`, `${PREFIX}.slice`);
  });

  test("a unit that lives is somebody else's: refused, and not touched", async () => {
    const first = await created();
    const name = id();
    const path = prepared(name, (config) => {
      config.linux.cgroupsPath = `:${PREFIX}:${first.name}`;
    });
    const result = await runtime(["--systemd-cgroup", "create", "-b", path, name]);
    expect([result.status, result.stderr]).toEqual([1, expect.stringContaining("container's cgroup is not empty")]);
    expect(JSON.parse(await ok(["state", first.name])).status).toBe("created");
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
  });

  test("a failed unit of the same name is reset", async () => {
    const name = id();
    const unit = `${PREFIX}-${name}.scope`;
    await run("systemd-run", ["--scope", "--quiet", `--unit=${unit}`, "--property=RuntimeMaxSec=1", "sleep", "100"]).catch(() => {});
    await expect.poll(async () => (await show(unit, "ActiveState"))["ActiveState"], { timeout: 30_000 }).toBe("failed");
    await ok(["--systemd-cgroup", "create", "-b", prepared(name), name]);
    expect(await show(unit, "ActiveState", "Description")).toMatchObject({ ActiveState: "active" });
  });

  test("properties by annotation, and what systemd refuses", async () => {
    const { unit } = await created((config) => {
      config["annotations"] = { "org.systemd.property.TimeoutStopSec": "7", "org.systemd.property.CollectMode": "'inactive-or-failed'" };
    });
    expect(await show(unit, "TimeoutStopUSec", "CollectMode")).toEqual({ TimeoutStopUSec: "7s", CollectMode: "inactive-or-failed" });
    const name = id();
    const path = prepared(name, (config) => {
      config["annotations"] = { "org.systemd.property.NoSuchProperty": "true" };
    });
    const result = await runtime(["--systemd-cgroup", "create", "-b", path, name]);
    expect([result.status, result.stderr]).toEqual([1, expect.stringMatching(/^runt: systemd: Cannot set property NoSuchProperty/)]);
    expect(await units(`${PREFIX}-${name}*`)).toEqual([]);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
  });

  test("by the message bus instead of systemd's own socket", async () => {
    const name = id();
    const env = { DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/run/dbus/system_bus_socket" };
    await ok(["--systemd-cgroup", "create", "-b", prepared(name), name], { env });
    expect(await show(`${PREFIX}-${name}.scope`, "ActiveState")).toEqual({ ActiveState: "active" });
    await ok(["delete", "--force", name]);
    expect(await units(`${PREFIX}-${name}*`)).toEqual([]);
  });

  test("a program that is killed for memory: the unit does not stay behind as failed", async () => {
    const name = id();
    const path = prepared(name, (config) => {
      shell(config, "tail /dev/zero");
      config.linux.resources = { memory: { limit: 16 * MIB, swap: 16 * MIB } };
    });
    expect((await runtime(["--systemd-cgroup", "run", "-b", path, name])).status).toBe(137);
    expect(await units(`${PREFIX}-${name}*`)).toEqual([]);
  });

  test.runIf(isUnified)("in a user namespace the cgroup is the container's own", async () => {
    const name = id();
    const path = prepared(name, (config) => {
      shell(config, "mkdir /sys/fs/cgroup/sub && echo $$ > /sys/fs/cgroup/sub/cgroup.procs && cat /proc/self/cgroup");
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }, { type: "user" }];
      config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      config.mounts = [
        ...config.mounts.filter(({ destination }) => destination !== "/sys/fs/cgroup"),
        { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev"] },
      ];
    });
    expect(await ok(["--systemd-cgroup", "run", "-b", path, name])).toBe("0::/sub\n");
  });

  test(`${CONTAINERS} containers by ${WORKERS} workers leave nothing`, { timeout: CONTAINERS * 3_000 }, async () => {
    const path = prepared("parallel", (config) => {
      shell(config, ":");
      config.linux.cgroupsPath = "";
    });
    const names = Array.from({ length: CONTAINERS }, (_, index) => `${PREFIX}p${index}`);
    const failures: string[] = [];
    const worker = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const result = await runtime(["--systemd-cgroup", "run", "-b", path, name]);
        if (result.status !== 0) failures.push(`${name}: ${result.stderr}`);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    expect(failures).toEqual([]);
    expect(await units(`runt-${PREFIX}p*`)).toEqual([]);
    const roots = isUnified ? ["/sys/fs/cgroup"] : ["memory", "freezer", "systemd"].map((name) => `/sys/fs/cgroup/${name}`);
    for (const root of roots) expect((await run("find", [root, "-name", `runt-${PREFIX}p*`])).stdout).toBe("");
  });
});
