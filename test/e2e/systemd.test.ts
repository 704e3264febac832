/**
 * The systemd driver on a host without systemd: a real dbus-daemon, and a fake manager on it or on a socket of its own. In a private
 * mount namespace /run/systemd looks as if systemd had booted. (With a real systemd: test/guest/cases/systemd.test.ts.)
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, DBUS_DAEMON, startDaemon } from "../support/bus-daemon.ts";
import { joinBus, listenDirectly, type Service } from "../support/bus-service.ts";
import { cgroupOf, hasControllers, isUnified, readLimit } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { type FakeSystemd, fakeSystemd } from "../support/fake-systemd.ts";
import { type CallOptions, call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { isAlive } from "../support/witness.ts";

const ROOT = `${CGROUP_PARENT}-systemd`;
const PIDS = { v1: "pids.max", v2: "pids.max" };

describe.skipIf(!isRoot || !isRunt || DBUS_DAEMON === undefined)("the systemd driver (needs root and dbus-daemon)", () => {
  const { bundle, directory, id, root } = useHarness();
  let daemon: Daemon | undefined;
  /** A bus that systemd is not on. */
  let empty: Daemon | undefined;
  let systemd: FakeSystemd;
  let services: Service[] = [];
  let socket = "";

  beforeAll(async () => {
    daemon = await startDaemon(directory);
    empty = await startDaemon(mkdtempSync(join(directory, "empty-")));
    systemd = fakeSystemd(isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/systemd", ROOT);
    socket = join(directory, "private");
    services = [await joinBus(daemon.socket, "org.freedesktop.systemd1", systemd.answer), await listenDirectly(socket, systemd.answer)];
  });
  afterAll(() => {
    for (const service of services) service.close();
    daemon?.close();
    empty?.close();
    systemd.clear();
  });

  /** `bus`: only the message bus can be reached. `beside`: a bus in its usual place. */
  function runt(
    args: readonly string[],
    { bus = true, beside, ...options }: CallOptions & { bus?: boolean; beside?: string | undefined } = {},
  ): Promise<Result> {
    const place = (path: string, socket: string) => `mkdir -p ${dirname(path)} && touch ${path} && mount --bind ${socket} ${path} &&`;
    const direct = bus ? "" : place("/run/systemd/private", "$0");
    const second = beside === undefined ? "" : place("/run/dbus/system_bus_socket", beside);
    const booted = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && ${direct} ${second} exec "$@"`;
    const env = bus ? { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${daemon?.socket}` } : {};
    const words = [
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      booted,
      socket,
      RUNTIME,
      "--root",
      root,
      "--systemd-cgroup",
    ];
    return call(directory, [...words, ...args], { ...options, env: { ...env, ...options.env } });
  }

  async function ok(args: readonly string[], options?: Parameters<typeof runt>[1]): Promise<string> {
    const result = await runt(args, options);
    if (result.status !== 0) throw new Error(`${args.join(" ")}: status ${result.status}: ${result.stderr || result.stdout}`);
    return result.stdout;
  }

  function prepared(name: string, change: (config: Config) => void = () => {}): string {
    return bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.cgroupsPath = `:test:${name}`;
      config.linux.resources = hasControllers && (isUnified || existsSync("/sys/fs/cgroup/pids")) ? { pids: { limit: 32 } } : {};
      change(config);
    });
  }

  const newCalls = () => systemd.calls.slice(seen);
  let seen = 0;
  const begin = () => {
    seen = systemd.calls.length;
    return id();
  };

  test.skipIf(!hasControllers).each([
    ["over a message bus", true],
    ["over the manager's own socket", false],
  ])("a life %s", async (_, bus) => {
    const name = begin();
    const unit = `test-${name}.scope`;
    await ok(["create", "-b", prepared(name), name], { bus });
    const { pid } = JSON.parse(await ok(["state", name]));
    expect(systemd.unit(unit)).toMatchObject({
      PIDs: { signature: "au", value: [pid] },
      Slice: { signature: "s", value: "system.slice" },
      Delegate: { signature: "b", value: true },
      TasksMax: { signature: "t", value: 32n },
    });
    for (const controller of isUnified ? [""] : ["name=systemd", "pids", "memory", "freezer"]) {
      expect(cgroupOf(pid, controller)).toMatch(new RegExp(`${ROOT}/system.slice/${unit}$`));
    }
    expect(readLimit(pid, PIDS)).toBe("32");
    await ok(["start", name]);
    await ok(["update", "--pids-limit", "40", name], { bus });
    expect(systemd.unit(unit)?.["TasksMax"]).toEqual({ signature: "t", value: 40n });
    expect(readLimit(pid, PIDS)).toBe("40");
    await ok(["delete", "--force", name], { bus });
    expect(newCalls()).toEqual(
      ["StartTransientUnit", "SetUnitProperties", "StopUnit", "ResetFailedUnit"].map((member) => `${member} ${unit}`),
    );
  });

  test("a bus that systemd is not on: its own socket is used, by delete as well", async () => {
    const name = begin();
    const place = { bus: false, beside: empty?.socket };
    await ok(["create", "-b", prepared(name), name], place);
    await ok(["delete", "--force", name], place);
    expect(newCalls()).toEqual(["StartTransientUnit", "StopUnit", "ResetFailedUnit"].map((member) => `${member} test-${name}.scope`));
  });

  test.skipIf(!hasControllers)("a plan shows the unit and starts nothing", async () => {
    const name = begin();
    const plan = await ok(["plan", "-b", prepared(name), name]);
    expect(plan).toContain(`systemd.startUnit`);
    expect(plan).toContain(` test-${name}.scope through `);
    expect(plan.replace(/\s+/g, " ")).toContain('"TasksMax=uint64 32"');
    expect(newCalls()).toEqual([]);
  });

  test("a job that fails leaves nothing", async () => {
    const name = begin();
    systemd.failStart("failed");
    const { status, stderr } = await runt(["create", "-b", prepared(name), name]);
    expect([status, stderr]).toEqual([1, `runt: error creating systemd unit \`test-${name}.scope\`: got \`failed\`\n`]);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("a slice is made with its properties, gets others when it is there, and goes; each may be done again", async () => {
    const slice = `${begin()}.slice`.replaceAll("-", "_");
    const change = (...words: string[]) => ok(["service", "slice", ...words]);
    await change("start", slice, "MemoryMax=uint64 1048576", "Description='of a test'");
    expect(systemd.unit(slice)).toEqual({
      MemoryMax: { signature: "t", value: 1048576n },
      Description: { signature: "s", value: "of a test" },
    });
    await change("start", slice, "MemoryMax=uint64 2097152", "Description='of a test'");
    expect(systemd.unit(slice)?.["MemoryMax"]).toEqual({ signature: "t", value: 2097152n });
    await change("stop", slice);
    await change("stop", slice);
    expect(systemd.unit(slice)).toBeUndefined();
    expect(newCalls().filter((line) => !line.startsWith("ResetFailed"))).toEqual(
      ["StartTransientUnit", "StartTransientUnit", "StartTransientUnit", "SetUnitProperties", "StopUnit", "StopUnit"].map(
        (member) => `${member} ${slice}`,
      ),
    );
  });

  test.each([
    [["start", "no-slice", "MemoryMax=uint64 1"], "invalid slice name: no-slice"],
    [["start", "a.slice", "MemoryMax"], "MemoryMax is no property of a unit"],
    [["remove", "a.slice"], "service slice remove: use start or stop"],
    [["stop", "a.slice", "A=b"], "service slice stop: use start or stop"],
  ])("a slice that cannot be is refused before systemd hears of it: %j", async (words, text) => {
    begin();
    const { status, stderr } = await runt(["service", "slice", ...words]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(text)]);
    expect(newCalls()).toEqual([]);
  });

  test("a left-over unit is reset; one that stays is never stopped", async () => {
    const name = begin();
    systemd.failStart("exists");
    await ok(["create", "-b", prepared(name), name]);
    expect(newCalls().map((line) => line.split(" ")[0])).toEqual(["StartTransientUnit", "ResetFailedUnit", "StartTransientUnit"]);
    await ok(["delete", "--force", name]);
    const other = begin();
    systemd.failStart("exists", "exists");
    const { status, stderr } = await runt(["create", "-b", prepared(other), other]);
    expect([status, stderr]).toEqual([1, `runt: unable to start unit "test-${other}.scope": fake: UnitExists\n`]);
    expect(newCalls().map((line) => line.split(" ")[0])).toEqual(["StartTransientUnit", "ResetFailedUnit", "StartTransientUnit"]);
    expect(existsSync(join(root, other))).toBe(false);
  });

  test.skipIf(!hasControllers)("an update that the kernel refuses is taken back", async () => {
    const name = begin();
    await ok(["create", "-b", prepared(name), name]);
    const result = await runt(["update", "--pids-limit", "50", "--cpuset-cpus", "4096", name]);
    expect([result.status, result.stderr]).toEqual([1, expect.stringContaining("cpuset.cpus")]);
    expect(systemd.unit(`test-${name}.scope`)?.["TasksMax"]).toEqual({ signature: "t", value: 32n });
    expect(newCalls().filter((line) => line.startsWith("SetUnitProperties"))).toHaveLength(2);
    await ok(["delete", "--force", name]);
  });

  /** A create is killed when it waits for a job that does not end. `before`: gets the cgroup of the unit just before that. */
  async function killedAtItsJob(name: string, before: (directory: string) => void = () => {}): Promise<void> {
    systemd.failStart("never");
    const creation = runt(["create", "-b", prepared(name), name], {
      started: (child) => {
        const wait = setInterval(() => {
          if (!newCalls().includes(`StartTransientUnit test-${name}.scope`)) return;
          clearInterval(wait);
          before(systemd.directory(`test-${name}.scope`));
          child.kill("SIGKILL");
        }, 10);
      },
    });
    expect((await creation).status).toBe(137);
  }

  test("killed while it waits for the job: delete --force removes everything", async () => {
    const name = begin();
    await killedAtItsJob(name);
    expect(JSON.parse(readFileSync(join(root, name, "state.json"), "utf8")).cgroup.systemd.unit).toBe(`test-${name}.scope`);
    await ok(["delete", "--force", name]);
    expect(systemd.unit(`test-${name}.scope`)).toBeUndefined();
    expect(existsSync(join(root, name))).toBe(false);
  });

  test.each([
    ["ends a little later: the unit is stopped", 100],
    ["stays: the unit is left alone", undefined],
  ])("killed while it waits for the job, and a process in the unit %s", async (_, endsAfterMs) => {
    const name = begin();
    const other = spawn("sleep", ["1000"], { stdio: "ignore" });
    const ended = new Promise((done) => other.once("exit", done));
    try {
      await killedAtItsJob(name, (directory) => writeFileSync(join(directory, "cgroup.procs"), String(other.pid)));
      if (endsAfterMs !== undefined) setTimeout(() => other.kill("SIGKILL"), endsAfterMs);
      const { status, stderr } = await runt(["delete", "--force", name]);
      const stays = endsAfterMs === undefined;
      expect([status, stderr]).toEqual([0, stays ? expect.stringContaining(`left alone: process ${other.pid}\n`) : ""]);
      expect(newCalls().includes(`StopUnit test-${name}.scope`)).toBe(!stays);
      expect(isAlive(other.pid!)).toBe(stays);
    } finally {
      other.kill("SIGKILL");
      await ended;
      if (systemd.unit(`test-${name}.scope`)) systemd.stop(`test-${name}.scope`);
    }
  });

  test("the unit's name and annotations are checked before anything is done", async () => {
    const name = begin();
    const wrong = prepared(name, (config) => {
      config.linux.cgroupsPath = "/a/b";
    });
    const result = await runt(["create", "-b", wrong, name]);
    expect([result.status, result.stderr]).toEqual([
      1,
      expect.stringContaining('expected cgroupsPath to be of format "slice:prefix:name"'),
    ]);
    const annotated = prepared(name, (config) => {
      config["annotations"] = { "org.systemd.property.TimeoutStopSec": "soon" };
    });
    expect((await runt(["create", "-b", annotated, name])).stderr).toContain("annotation org.systemd.property.TimeoutStopSec");
    expect(newCalls()).toEqual([]);
    expect(existsSync(join(root, name))).toBe(false);
  });

  // The last one: nobody answers any more afterwards.
  test("systemd that is gone does not keep a container from being deleted", async () => {
    const name = begin();
    await ok(["create", "-b", prepared(name), name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    const cgroup = cgroupOf(pid, "pids");
    for (const service of services) service.close();
    daemon?.close();
    await ok(["delete", "--force", name]);
    expect(existsSync(cgroup)).toBe(false);
  });
});

describe.skipIf(!isRoot || !isRunt || existsSync("/run/systemd/system"))("without systemd (needs a host that has none)", () => {
  const { bundle, id, runtime } = useHarness();

  test.each([["--systemd-cgroup"], ["--cgroup-manager=systemd"]])("%s says so", async (flag) => {
    const name = id();
    const { status, stderr } = await runtime([flag, "create", "-b", bundle(), name]);
    expect([status, stderr]).toEqual([1, "runt: systemd not running on this host, cannot use systemd cgroups manager\n"]);
    expect((await runtime(["state", name])).status).toBe(1);
  });
});
