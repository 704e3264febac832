/** checkpoint and restore with a real criu: a container that goes on where it was. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { cgroupOf, readLimit } from "../../support/cgroups.ts";
import type { Config } from "../../support/config.ts";
import { CRIU_TIMEOUT, FLOOR, hasCriu, MEMORY, MIB, useCounters } from "../../support/counters.ts";
import { useHarness } from "../../support/harness.ts";
import { sharedRootfs } from "../../support/programs.ts";

const run = promisify(execFile);

describe.skipIf(!hasCriu)("checkpoint and restore (needs criu)", { timeout: CRIU_TIMEOUT }, () => {
  const harness = useHarness();
  const { directory, id, ok, runtime } = harness;
  const { count, counting, fresh, goesOn, images, passes, prepared, stateOf } = useCounters(harness);

  test("a counter ends with its checkpoint and goes on with its restore", async () => {
    const { name, path, data } = await counting();
    const image = images();
    const cgroup = cgroupOf((await stateOf(name)).pid, "memory");
    expect(await runtime(["checkpoint", "--image-path", image, name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    expect(existsSync(cgroup)).toBe(false);
    const pid = await goesOn(name, path, data, image);
    expect(cgroupOf(pid, "memory")).toBe(cgroup);
    expect(readLimit(pid, MEMORY)).toBe(String(64 * MIB));
    expect(await ok(["exec", name, "cat", "/proc/1/comm"])).toBe("sh\n");
    await ok(["pause", name]);
    expect((await stateOf(name)).status).toBe("paused");
    await ok(["resume", name]);
    await ok(["kill", name, "KILL"]);
    await expect.poll(async () => (await stateOf(name)).status, { timeout: 20_000 }).toBe("stopped");
    await ok(["delete", name]);
    expect(existsSync(cgroup)).toBe(false);
  });

  test("a restored container can be checkpointed and restored again", async () => {
    const { name, path, data } = await counting();
    for (const image of [images(), images()]) {
      await ok(["checkpoint", "--image-path", image, "--work-path", join(image, "work"), name]);
      expect(existsSync(join(image, "work", "dump.log"))).toBe(true);
      await goesOn(name, path, data, image);
    }
  });

  test("--leave-running: it goes on, and its image makes a second one after its end", async () => {
    const { name, path, data } = await counting();
    const image = images();
    await ok(["checkpoint", "--leave-running", "--image-path", image, name]);
    await passes(data, count(data));
    await ok(["delete", "--force", name]);
    await goesOn(name, path, data, image);
  });

  test("a paused container, as containerd has it, stays paused", async () => {
    const { name, data } = await counting();
    await ok(["pause", name]);
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    expect((await stateOf(name)).status).toBe("paused");
    await ok(["resume", name]);
    await passes(data, count(data));
  });

  test("--pre-dump and --parent-path", async () => {
    const { name, path, data } = await counting();
    const [first, second] = [join(directory, "parents/1"), join(directory, "parents/2")];
    await ok(["checkpoint", "--pre-dump", "--image-path", first, name]);
    await passes(data, count(data));
    await ok(["checkpoint", "--parent-path", "../1", "--image-path", second, name]);
    expect(readlinkSync(join(second, "parent"))).toBe("../1");
    await goesOn(name, path, data, second);
  });

  test("what the bundle asks for is there again: binds, masks, read-only paths, filter, id of the host's name", async () => {
    const { name, path, data } = await counting([], (config) => {
      config.hostname = "saved";
      config.linux.maskedPaths = ["/proc/kcore", "/proc/keys", "/proc/acpi", "/sys/firmware"];
      config.linux.readonlyPaths = ["/proc/sys", "/proc/bus"];
      config.linux.seccomp = {
        defaultAction: "SCMP_ACT_ALLOW",
        architectures: ["SCMP_ARCH_X86_64"],
        syscalls: [{ names: ["mkdirat", "mkdir"], action: "SCMP_ACT_ERRNO" }],
      };
    });
    const image = images();
    const look = (what: string) => runtime(["exec", name, "sh", "-c", what]);
    const QUESTIONS = [
      "hostname; wc -c </proc/kcore; ls /proc/acpi | wc -l",
      "touch /proc/sys/kernel/hostname",
      "ls /data",
      "mkdir /run/x /tmp/x",
    ];
    const answers = async () => {
      const all = [];
      for (const question of QUESTIONS) all.push(await look(question));
      return all;
    };
    const before = await answers();
    const filter = async () => /Seccomp:\t(\d)/.exec(readFileSync(`/proc/${(await stateOf(name)).pid}/status`, "utf8"))?.[1];
    expect(await filter()).toBe("2");
    await ok(["checkpoint", "--image-path", image, name]);
    await goesOn(name, path, data, image);
    expect(await answers()).toEqual(before);
    expect(await filter()).toBe("2");
  });

  test("a restore that fails leaves nothing", async () => {
    const { name, path } = await counting();
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    const file = join(path, "config.json");
    const config: Config = JSON.parse(readFileSync(file, "utf8"));
    config.mounts = config.mounts.filter(({ destination }) => destination !== "/data");
    writeFileSync(file, JSON.stringify(config));
    const failed = await runtime(["restore", "-d", "--image-path", image, "-b", path, name]);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/^runt: criu failed: type RESTORE errno \d+: .*restore\.log\n$/);
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
  });

  test("a link of the image does not make criu bind a directory that the bundle does not name (CVE-2026-119614)", async () => {
    const secret = fresh("secret");
    const rootfs = fresh("rootfs");
    await run("cp", ["-a", sharedRootfs(), rootfs]);
    const volume = fresh("volume");
    const [, top = "", ...below] = volume.split("/");
    const reached = join(secret, ...below);
    mkdirSync(reached, { recursive: true });
    // What criu takes for the source of /data: a path in the volume, in which the container has made a link.
    mkdirSync(join(volume, "l]:"), { recursive: true });
    symlinkSync(secret, join(volume, "l]:", top));
    const split = `/data]:${volume}/l`;
    mkdirSync(join(rootfs, split), { recursive: true });
    symlinkSync(split, join(rootfs, "b"));
    const name = id();
    const { path, data } = prepared((config) => {
      config.root.path = rootfs;
      config.mounts.unshift({ destination: "/b", type: "bind", source: volume, options: ["bind"] });
    });
    await ok(["run", "-d", "-b", path, name]);
    await passes(data, FLOOR);
    const image = images();
    const { status, stderr } = await runtime(["checkpoint", "--image-path", image, name]);
    if (status === 0) {
      await runtime(["restore", "-d", "--image-path", image, "-b", path, name]);
      await sleep(1_000);
    }
    expect(existsSync(join(reached, "count"))).toBe(false);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point ${JSON.stringify(split)}`)]);
    await passes(data, count(data));
  });
});
