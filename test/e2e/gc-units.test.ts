/** `runt gc` of systemd's units, asked of a systemd of the test's own. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, DBUS_DAEMON, startDaemon } from "../support/bus-daemon.ts";
import { joinBus, type Service } from "../support/bus-service.ts";
import { CGROUPS, hierarchyRoots, isUnified } from "../support/cgroups.ts";
import { type FakeSystemd, fakeSystemd } from "../support/fake-systemd.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

describe.skipIf(!isRoot || !isRunt || DBUS_DAEMON === undefined)("gc with systemd's units (needs root and dbus-daemon)", () => {
  const { bundle, directory, id, root } = useHarness();
  const managerRoot = `${CGROUP_PARENT}-gc-systemd`;
  let daemon: Daemon;
  let service: Service;
  let systemd: FakeSystemd;
  beforeAll(async () => {
    daemon = await startDaemon(directory);
    systemd = fakeSystemd(isUnified ? CGROUPS : `${CGROUPS}/systemd`, managerRoot);
    service = await joinBus(daemon.socket, "org.freedesktop.systemd1", systemd.answer);
  });
  afterAll(() => {
    service.close();
    daemon.close();
    systemd.clear();
  });

  async function runt(...args: readonly string[]): Promise<string> {
    const booted = `mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && exec "$@"`;
    const words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", booted, "sh", RUNTIME, "--root", root, ...args];
    const env = { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${daemon.socket}` };
    const { status, stdout, stderr } = await call(directory, words, { env });
    if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  test("a unit whose container is lost is stopped", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.cgroupsPath = `:gc:${name}`;
      config.linux.resources = {};
    });
    await runt("--systemd-cgroup", "run", "--detach", "-b", path, name);
    const { pid } = JSON.parse(await runt("state", name));
    rmSync(join(root, name), { recursive: true });
    // What other tests leave for a moment is listed as well.
    const collected = async () =>
      JSON.parse(await runt("gc", "--yes", "-f", "json")).objects.filter((one: { id?: string }) => one.id === name);
    expect(await collected()).toMatchObject([{ outcome: "kept", processes: [pid] }]);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => existsSync(`/proc/${pid}/cgroup`)).toBe(false);
    const before = systemd.calls.length;
    expect(await collected()).toMatchObject([{ kind: "cgroup", outcome: "removed" }]);
    expect(systemd.calls.slice(before)).toEqual([`StopUnit gc-${name}.scope`, `ResetFailedUnit gc-${name}.scope`]);
    expect(systemd.unit(`gc-${name}.scope`)).toBeUndefined();
    for (const hierarchy of hierarchyRoots) expect(existsSync(`${hierarchy}${managerRoot}/system.slice/gc-${name}.scope`)).toBe(false);
  });
});
