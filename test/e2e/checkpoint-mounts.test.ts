/**
 * restore: what is said to criu of mounts, streams and cgroups, which the image can lead astray. A criu that only speaks its protocol shows every
 * key; what a real one does with them is in checkpoint-real.test.ts.
 */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf, hasControllers, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { bind, useDumpedMounts } from "../support/dumped-mounts.ts";
import { FIELD, pairs } from "../support/fake-criu.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

describe.skipIf(!(isRunt && isRoot))("mounts, as criu is told of them (needs root)", () => {
  const harness = useHarness();
  const { bundle, id } = harness;
  const { image, images, ok, requests, restoring, running, runtime, stateOf, made, mountHere, refused, restored, rootfs } =
    useDumpedMounts(harness);

  const restoreArgs = (path: string, name: string) => ["restore", "-d", "--image-path", images(), "-b", path, name];

  describe("a restore", () => {
    test.skipIf(isUnified)("of the bundle of spec: v1 cgroups and masked files have their sources", async () => {
      const directory = made();
      await ok(["spec", "-b", directory]);
      const spec: Config = JSON.parse(readFileSync(join(directory, "config.json"), "utf8"));
      const sent = await restored((config) => {
        const { cgroupsPath } = config.linux;
        Object.assign(config, spec, { root: { ...config.root, readonly: true }, linux: { ...spec.linux, cgroupsPath } });
        config.process.terminal = false;
        expect(config.linux.cgroupsPath).toBe(cgroupsPath);
      });
      const memory = sent.find(([key]) => key === "/sys/fs/cgroup/memory")?.[1];
      expect(memory).toMatch(/^\/sys\/fs\/cgroup\/memory\/.+/);
      expect(statSync(memory!).isDirectory()).toBe(true);
      for (const path of spec.linux.maskedPaths as string[]) expect(sent).toContainEqual([path, "/dev/null"]);
    });

    test("a source without links and dots", async () => {
      const place = made("real");
      symlinkSync(place, join(place, "../link"));
      const sent = await restored((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt", join(place, "../link/.")), bind("/tmp", "."));
      });
      expect(sent).toContainEqual(["/mnt", place]);
      expect(sent.find(([key]) => key === "/tmp")?.[1]).toMatch(/\/bundle-\d+$/);
    });

    test("what is mounted below a recursive bind", async () => {
      const place = made();
      mkdirSync(join(place, "sub"));
      mountHere("-t", "tmpfs", "runt-test", join(place, "sub"));
      const sent = await restored((config) => {
        config.root.path = rootfs({ link: "/real" });
        config.mounts = [{ ...bind("/link", place), options: ["rbind"] }, bind("/tmp", place)];
      });
      expect(sent).toContainEqual(["/link/sub", join(place, "sub")]);
      expect(sent).toContainEqual(["/real/sub", join(place, "sub")]);
      expect(sent.some(([key]) => key === "/tmp/sub")).toBe(false);
    });

    test("a mount point missing in what is bound read-only is not made", async () => {
      const [volume, other] = [made(), made()];
      const stderr = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt", volume, "ro"), bind("/mnt/a/b", other));
      });
      expect(stderr).toContain("mount point /mnt/a/b: not there, and what is bound above it is read-only");
      expect(readdirSync(volume)).toEqual([]);
    });

    test("nor in a source that is read-only by a flag of its mount", async () => {
      const [volume, other] = [made(), made()];
      mountHere("--bind", volume, volume);
      execFileSync("mount", ["-o", "remount,bind,ro", volume]);
      const stderr = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt", volume), bind("/mnt/a", other));
      });
      expect(stderr).toContain("mount point /mnt/a: read-only file system");
    });

    test("a read-only mount that the image has writable ends it", async () => {
      const place = made();
      image();
      const name = id();
      const path = bundle((config) => {
        config.root.path = rootfs({});
        config.mounts = [bind("/dev", place, "ro")];
      });
      const { status, stderr } = await runtime(restoreArgs(path, name), { FAKE_WRITABLE: "1" });
      expect([status, stderr]).toEqual([1, expect.stringContaining("the image has the mount point /dev writable")]);
      expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    });

    test("a read-only root that criu has left writable is made read-only", async () => {
      image();
      const name = id();
      const path = bundle((config) => {
        config.root.readonly = true;
      });
      const { status, stderr } = await runtime(restoreArgs(path, name), { FAKE_WRITABLE: "1" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      const { pid } = JSON.parse((await runtime(["state", name])).stdout);
      expect(readFileSync(`/proc/${pid}/mountinfo`, "utf8")).toMatch(/^\d+ \d+ \S+ \S+ \/ ro,/m);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toMatch(/^\d+ \d+ \S+ \S+ \/ ro,/m);
    });

    test("a symbolic link that is to be bound itself is refused, a copied one is no mount", async () => {
      const place = made();
      symlinkSync("/nowhere", join(place, "link"));
      const stderr = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt/link", join(place, "link"), "src-nofollow"));
      });
      expect(stderr).toContain(`criu cannot bind the symbolic link ${join(place, "link")} itself`);
      const sent = await restored((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt/link", join(place, "link"), "copy-symlink"));
      });
      expect(sent.some(([key]) => key === "/mnt/link")).toBe(false);
    });

    test("links of the image do not lead criu's log and statistics to other files", async () => {
      image();
      const victim = join(made(), "victim");
      writeFileSync(victim, "precious");
      for (const name of ["restore.log", "stats-restore"]) symlinkSync(victim, join(images(), name));
      await ok(restoring().args);
      expect(readFileSync(victim, "utf8")).toBe("precious");
      for (const name of ["restore.log", "stats-restore"]) expect(lstatSync(join(images(), name)).isFile()).toBe(true);
    });

    test("only pipes and files by number take the place of this process's streams", async () => {
      image(["pipe:[12]\n", "file[/etc/shadow]", "file[1a:2b]:/etc"]);
      await ok(restoring().args);
      expect(pairs(requests()[0]!.options, FIELD.inherit)).toEqual([]);
    });

    test("exec joins the time namespace that criu makes", async () => {
      image();
      const name = id();
      await ok(restoreArgs(bundle(), name));
      const { pid } = await stateOf(name);
      const time = readlinkSync(`/proc/${pid}/ns/time`);
      expect(time).not.toBe(readlinkSync("/proc/self/ns/time"));
      expect((await ok(["exec", name, "readlink", "/proc/self/ns/time"])).trim()).toBe(time);
    });
  });

  describe("hierarchies in which the container has no cgroup of its own", () => {
    test.skipIf(!hasControllers)("are left out of a dump: criu begins at a file there", async () => {
      const { name } = await running(() => {});
      await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
      const lines = readFileSync(`/proc/${(await stateOf(name)).pid}/cgroup`, "utf8")
        .trim()
        .split("\n");
      const atRoot = lines.map((line) => line.split(":")).filter(([, , path]) => path === "/");
      expect(pairs(requests()[0]!.options, FIELD.cgroupRoots).sort()).toEqual(
        atRoot.map(([, controllers]) => [controllers, "/cgroup.procs"]).sort(),
      );
      await ok(["checkpoint", "--leave-running", "--manage-cgroups-mode", "ignore", "--image-path", images(), name]);
      expect(pairs(requests()[1]!.options, FIELD.cgroupRoots)).toEqual([]);
    });

    test("an image does not take processes out of a cgroup that the container has here", async () => {
      image();
      const name = id();
      const procs = `/sys/fs/cgroup/${isUnified ? "" : "memory/"}cgroup.procs`;
      const path = bundle();
      await ok(restoreArgs(path, name), { FAKE_ELSEWHERE: procs });
      const { cgroupsPath } = JSON.parse(readFileSync(join(path, "config.json"), "utf8")).linux;
      expect(cgroupOf((await stateOf(name)).pid, "memory")).toMatch(new RegExp(`${cgroupsPath}$`));
    });
  });
});
