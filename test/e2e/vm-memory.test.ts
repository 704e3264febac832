/** What is killed for lack of memory in a machine is seen where engines look for it: in the cgroup of the container's process on the host. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { cgroupFile } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isThere, machineMissing, pidOf, programs, staying, stayingBundle, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { member, memberOf, sandbox } from "../support/vm-pod.ts";

const missing = machineMissing();
const MIB = 1024 ** 2;

describe.skipIf(missing !== undefined)(`a machine without memory${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime, until } = harness;

  const fileOf = (pid: number): string => cgroupFile(pid, { v1: "memory.oom_control", v2: "memory.events" });
  const kills = (file: string): number => Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]);
  const limited = (config: Config): void => {
    config.linux.resources = { memory: { limit: 32 * MIB } };
  };
  /** Those in this pid namespace that repeat a kill. */
  const repeating = (namespace: string): string[] =>
    readdirSync("/proc").filter((pid) => {
      try {
        return (
          /^\d/.test(pid) &&
          readFileSync(`/proc/${pid}/cmdline`, "utf8") === "runt\0machine-victim\0" &&
          readlinkSync(`/proc/${pid}/ns/pid`) === namespace
        );
      } catch {
        // It has just ended.
        return false;
      }
    });
  const takeAll = (name: string) => runtime(["exec", name, "/bin/sh", "-c", "tail /dev/zero"]);

  test("of its own: the hypervisor goes on, and so does the container", async () => {
    const machine = await staying(harness, limited);
    const all = programs(machine);
    const file = fileOf(machine.pid);
    expect(kills(file)).toBe(0);
    expect((await takeAll(machine.name)).status).toBe(137);
    await expect.poll(() => kills(file), { timeout: PATIENCE_MS }).toBe(1);
    expect(await ok(["exec", machine.name, "/bin/echo", "still"])).toBe("still\n");
    expect((await takeAll(machine.name)).status).toBe(137);
    await expect.poll(() => kills(file), { timeout: PATIENCE_MS }).toBe(2);
    for (const [name, pid] of all) expect(isThere(pid), name).toBe(true);
  });

  test("whose program is killed: that is seen before its end", async () => {
    const name = id();
    const { bundle } = stayingBundle(harness, name, (config) => {
      limited(config);
      shell(config, "exec tail /dev/zero");
    });
    await ok(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], WITH_IMAGE);
    const file = fileOf(pidOf(bundle));
    await ok(["start", name]);
    await until(name, "stopped");
    expect(kills(file)).toBe(1);
  });

  test("again and again: that is seen for the first few times only", async () => {
    const began = Date.now();
    const { pid, name } = await staying(harness, (config) => {
      limited(config);
      shell(
        config,
        "echo up >/marks/up; i=0; while [ $i -lt 10 ]; do tail /dev/zero; sleep 1; i=$((i + 1)); done; echo over >/marks/over; sleep 1000",
      );
    });
    const file = fileOf(pid);
    await expect.poll(async () => (await runtime(["exec", name, "/bin/cat", "/marks/over"])).status, { timeout: PATIENCE_MS }).toBe(0);
    expect(kills(file)).toBeGreaterThanOrEqual(3);
    expect(kills(file)).toBeLessThanOrEqual(5 + Math.floor((Date.now() - began) / 60_000));
  });

  test("whose processes on the host have no limit: nothing is taken there", async () => {
    const name = id();
    const { bundle } = stayingBundle(harness, name, (config) => {
      limited(config);
      shell(config, "exec tail /dev/zero");
    });
    const words = ["--cgroup-manager", "disabled", "create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name];
    await ok(words, WITH_IMAGE);
    const pid = pidOf(bundle);
    const namespace = readlinkSync(`/proc/${pid}/ns/pid`);
    await ok(["start", name]);
    for (; isThere(pid); await sleep(5)) expect(repeating(namespace)).toEqual([]);
  });

  test("of a pod: each container has its own, and the others go on", async () => {
    const pod = await sandbox(harness);
    const one = await member(harness, pod, limited);
    const two = await member(harness, pod);
    const all = programs(pod);
    const [ofPod, ofOne, ofTwo] = [pod, one, two].map(({ pid }) => fileOf(pid)) as [string, string, string];
    expect((await takeAll(one.name)).status).toBe(137);
    await expect.poll(() => kills(ofOne), { timeout: PATIENCE_MS }).toBe(1);
    expect([kills(ofPod), kills(ofTwo)]).toEqual([0, 0]);
    for (const { name } of [pod, one, two]) expect(await ok(["exec", name, "/bin/echo", "still"])).toBe("still\n");
    for (const [name, pid] of all) expect(isThere(pid), name).toBe(true);

    // With the score that Kubernetes gives to pods that ask for nothing.
    const name = id();
    const { bundle } = stayingBundle(harness, name, (config) => {
      memberOf(pod)(config);
      limited(config);
      config.process.oomScoreAdj = 1000;
      shell(config, "exec tail /dev/zero");
    });
    await ok(["create", ...VM, "--pid-file", join(bundle, "pid"), "-b", bundle, name], WITH_IMAGE);
    const file = fileOf(pidOf(bundle));
    await ok(["start", name]);
    await until(name, "stopped");
    expect(kills(file)).toBe(1);
    expect(await ok(["exec", two.name, "/bin/echo", "still"])).toBe("still\n");
  });
});
