/** mounts add and remove: mounts of a container that runs, and that a hostile one gains nothing by them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config, Mount } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { hostMounts } from "../support/host-mounts.ts";

describe.skipIf(!isRoot || !isRunt)("mounts (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();
  let count = 0;

  async function running(change: (config: Config) => void = () => {}, command = "exec sleep 1000"): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, command);
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs" });
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    return name;
  }

  /** A directory of the host with one file in it. */
  function source(text = "of the host\n"): string {
    const path = join(directory, `source-${++count}`);
    mkdirSync(path);
    writeFileSync(join(path, "file"), text);
    return path;
  }

  function listOf(...mounts: readonly Mount[]): string {
    const path = join(directory, `mounts-${++count}.json`);
    writeFileSync(path, JSON.stringify({ mounts }));
    return path;
  }

  const bind = (from: string, destination: string, ...options: readonly string[]): Mount => ({
    source: from,
    destination,
    options: ["bind", ...options],
  });
  const inside = (name: string, command: string) => ok(["exec", name, "sh", "-c", command]);

  test("a directory and a file appear, with their options, and go again", async () => {
    const name = await running();
    const from = source();
    const list = listOf(bind(from, "/tmp/new/place", "ro", "nosuid"), bind(join(from, "file"), "/tmp/one"));
    await ok(["mounts", "add", name, list]);
    expect(await inside(name, "cat /tmp/new/place/file /tmp/one; touch /tmp/new/place/x 2>/dev/null || echo refused")).toBe(
      "of the host\nof the host\nrefused\n",
    );
    expect(await inside(name, "grep ' /tmp/new/place ' /proc/self/mountinfo | cut -d' ' -f6")).toMatch(/^ro,nosuid/);
    await ok(["mounts", "remove", name, list]);
    // The root of a mount, which comes before its place, may be below the host's /tmp.
    expect(await inside(name, "ls /tmp/new/place; cat /tmp/one; cut -d' ' -f5 /proc/self/mountinfo | grep -c '^/tmp/' || true")).toBe(
      "0\n",
    );
    expect(readdirSync(from)).toEqual(["file"]);
  });

  test("a whole bundle will do, relative sources start in it", async () => {
    const name = await running();
    const path = bundle((config) => {
      config.mounts = [bind("here", "/tmp/here")];
    });
    mkdirSync(join(path, "here"));
    await ok(["mounts", "add", name, path]);
    await inside(name, "test -d /tmp/here && grep ' /tmp/here ' /proc/self/mountinfo");
  });

  test("in a user namespace, and for a container that has not been started", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "cat /tmp/new/file >/tmp/seen; exec sleep 1000");
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs" });
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
    });
    await ok(["create", "-b", path, name]);
    await ok(["mounts", "add", name, listOf(bind(source(), "/tmp/made/new"), bind(source(), "/tmp/new"))]);
    await ok(["start", name]);
    await until(name, "running");
    // What is made for the mount belongs to the container; what is mounted stays the host's.
    await expect.poll(() => inside(name, "cat /tmp/seen; stat -c %u /tmp/made /tmp/new/file")).toBe("of the host\n0\n65534\n");
  });

  test("ids can be mapped, into the container's or by the mount's own mappings", async () => {
    const userNamespace = (config: Config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
      config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 1000 }];
    };
    const name = await running(userNamespace);
    await ok(["mounts", "add", name, listOf(bind(source(), "/tmp/mapped", "idmap"))]);
    expect(await inside(name, "stat -c %u /tmp/mapped/file")).toBe("0\n");
  });

  test("mounts of the host below the source come with it, and none goes back", async () => {
    const shared = join(directory, "shared");
    mkdirSync(shared);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", shared]);
    try {
      execFileSync("mount", ["--make-shared", shared]);
      mkdirSync(join(shared, "below"));
      mkdirSync(join(shared, "later"));
      const name = await running((config) => {
        for (const set of ["bounding", "effective", "permitted"]) config.process.capabilities[set] = ["CAP_SYS_ADMIN"];
        delete config.linux["seccomp"];
      });
      await ok(["mounts", "add", name, listOf({ source: shared, destination: "/tmp/shared", options: ["rbind"] })]);
      await inside(name, "mount -t tmpfs evil /tmp/shared/below");
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(join(shared, "below"));
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(shared, "later")]);
      expect(await inside(name, "grep -c ' /tmp/shared/later ' /proc/self/mountinfo")).toBe("1\n");
    } finally {
      execFileSync("umount", ["-R", shared]);
    }
  });

  test("links in the container lead nowhere but in the container", async () => {
    const name = await running();
    // The container can make it in its own /tmp, whatever TMPDIR is.
    const there = mkdtempSync("/tmp/runt-live-mounts-");
    const outside = join(there, "outside");
    try {
      await inside(name, `ln -s ${there} /tmp/absolute; ln -s ../../../../../../../../..${there} /tmp/relative`);
      await ok(["mounts", "add", name, listOf(bind(source(), "/tmp/absolute/outside"), bind(source(), "/tmp/relative/by-dots"))]);
      expect(readdirSync(there)).toEqual([]);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(outside);
      expect(await inside(name, `cat ${outside}/file`)).toBe("of the host\n");
    } finally {
      rmdirSync(there);
    }
  });

  test("a target that flips between a directory and a link out of the root never reaches the host", async () => {
    const host = join(directory, "victim");
    mkdirSync(join(host, "target"), { recursive: true });
    const flip = `mkdir -p /tmp/a/target /tmp/spare; ln -s ${host} /tmp/link; while :; do mv -T /tmp/a /tmp/spare/a 2>/dev/null; mv -T /tmp/link /tmp/a 2>/dev/null; mv -T /tmp/a /tmp/link; mv -T /tmp/spare/a /tmp/a; done`;
    const name = await running(() => {}, flip);
    const before = hostMounts(directory);
    const list = listOf(bind(source("secret\n"), "/tmp/a/target"));
    for (let round = 0; round < 25; round++) {
      await runtime(["mounts", "add", name, list]);
      await runtime(["mounts", "remove", name, list]);
    }
    expect(hostMounts(directory)).toEqual(before);
    expect(readdirSync(join(host, "target"))).toEqual([]);
  });

  test("remove does not follow a link of the container to a mask", async () => {
    const name = await running((config) => {
      config.linux["maskedPaths"] = ["/proc/version"];
    });
    await inside(name, "ln -s /proc /tmp/data");
    const result = await runtime(["mounts", "remove", name, listOf(bind("/x", "/tmp/data/version"))]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(
      'mounts remove: mount.detach "/tmp/data/version": open of the mount: too many levels of symbolic links',
    );
    expect(await inside(name, "grep -c ' /proc/version ' /proc/self/mountinfo")).toBe("1\n");
  });

  test.each<[string, Mount, RegExp]>([
    ["over the root", bind("/etc", "/"), /destination "\/" is the root filesystem itself/],
    [
      "of a new file system",
      { destination: "/tmp/t", type: "tmpfs", source: "tmpfs" },
      /only bind mounts can be added to a running container/,
    ],
    ["onto a file of /proc", bind("/etc/passwd", "/proc/self/attr/exec"), /cannot be mounted|\/proc/],
    [
      "of what is not there",
      bind("/nonexistent", "/tmp/t"),
      /mounts add: error mounting: mount\.open "\/nonexistent": open_tree: no such file or directory/,
    ],
  ])("a mount %s is refused", async (_, mount, message) => {
    const result = await runtime(["mounts", "add", await running(), listOf(mount)]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(message);
  });

  test.each(["/etc", "/tmp/.."])("remove of %s, which is no mount or the root, is refused", async (destination) => {
    const result = await runtime(["mounts", "remove", await running(), listOf(bind("/x", destination))]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/not a mount that can be removed: invalid argument|is the root filesystem itself/);
  });

  test.each([
    ["{}", /no field mounts/],
    ["{", /JSON|syntax|unexpected/i],
    ['{"mounts": [{"options": ["bind"]}]}', /destination/],
  ])("a file %j is refused", async (text, message) => {
    const path = join(directory, `broken-${++count}.json`);
    writeFileSync(path, text);
    const result = await runtime(["mounts", "add", await running(), path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(message);
  });

  test("it needs a container that runs, with mounts of its own", async () => {
    const list = listOf(bind(source(), "/tmp/x"));
    expect((await runtime(["mounts", "add", "unknown", list])).stderr).toContain("container does not exist");
    const name = await running();
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    expect((await runtime(["mounts", "add", name, list])).stderr).toContain("container not running");
    expect((await runtime(["mounts", "swap", name, list])).stderr).toContain('unknown command "swap": use add or remove');
  });

  test("no process stays in the container's namespace", async () => {
    const name = await running();
    await ok(["mounts", "add", name, listOf(bind(source(), "/tmp/x"))]);
    const init: number = JSON.parse(await ok(["state", name])).pid;
    const namespaceOf = (pid: string) => {
      try {
        return readlinkSync(`/proc/${pid}/ns/mnt`);
      } catch {
        return undefined; // It has ended since.
      }
    };
    const inside = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && namespaceOf(entry) === namespaceOf(String(init)));
    expect(inside).toEqual([String(init)]);
  });
});
