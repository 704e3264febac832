/**
 * checkpoint and restore: what is said to criu of mounts, whose names the image decides (links of its root filesystem, files of the
 * checkpoint). A criu that only speaks its protocol shows every key; what a real one does with them is in checkpoint-real.test.ts.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { numberOf } from "../../src/runtime/criu/protobuf.ts";
import { cgroupOf, hasControllers, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { FIELD, pairs, useFakeCriu } from "../support/fake-criu.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { sharedRootfs } from "../support/programs.ts";

const NETWORK_LOCK = 64;
const NFTABLES = 2;

describe.skipIf(!(isRunt && isRoot))("mounts, as criu is told of them (needs root)", () => {
  const harness = useHarness();
  const { bundle, id } = harness;
  const { image, images, ok, requests, runtime } = useFakeCriu(harness);
  let count = 0;
  let endings: (() => void)[] = [];

  afterEach(() => {
    for (const end of endings.reverse()) end();
    endings = [];
  });

  const bind = (destination: string, source: string, ...options: string[]) => ({
    destination,
    type: "bind",
    source,
    options: ["bind", ...options],
  });
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  /** A directory of this test's. */
  function made(...names: string[]): string {
    const path = join(harness.directory, `made-${++count}`, ...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** A root filesystem of this test's: links lead to directories that are made in it. */
  function rootfs(links: Readonly<Record<string, string>>): string {
    const own = join(harness.directory, `rootfs-${++count}`);
    execFileSync("cp", ["-a", sharedRootfs(), own]);
    for (const [link, target] of Object.entries(links)) {
      mkdirSync(join(own, target), { recursive: true });
      symlinkSync(target, join(own, link));
    }
    return own;
  }

  function mountHere(...args: string[]): void {
    execFileSync("mount", args);
    endings.push(() => execFileSync("umount", [args.at(-1)!]));
  }

  async function running(change: (config: Config) => void): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    return name;
  }

  const restoreArgs = (path: string, name: string) => ["restore", "-d", "--image-path", images(), "-b", path, name];

  /** Restores, expecting success. Returns what criu was asked to bind. */
  async function restored(change: (config: Config) => void): Promise<(string | undefined)[][]> {
    image();
    await ok(restoreArgs(bundle(change), id()));
    return pairs(requests()[0]!.options, FIELD.externalMounts);
  }

  /** Restores, expecting that criu is never asked and nothing is left. Returns stderr. */
  async function refused(change: (config: Config) => void): Promise<string> {
    image();
    const name = id();
    const { status, stderr } = await runtime(restoreArgs(bundle(change), name));
    expect([status, requests()]).toEqual([1, []]);
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    return stderr;
  }

  describe("names that criu would split", () => {
    const SPLIT = "/data]:/etc";

    test("at a checkpoint: the mount point is named, criu is not asked, the container goes on", async () => {
      const name = await running((config) => {
        config.root.path = rootfs({ b: SPLIT });
        config.mounts.push(bind("/b", made()), bind("/data", made()));
      });
      const { status, stderr } = await runtime(["checkpoint", "--image-path", images(), name]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point "${SPLIT}"`)]);
      expect([requests(), existsSync(images())]).toEqual([[], false]);
      expect((await stateOf(name)).status).toBe("running");
    });

    test("at a pre-dump as well", async () => {
      const name = await running((config) => {
        config.root.path = rootfs({ b: SPLIT });
        config.mounts.push(bind("/b", made()));
      });
      const { stderr } = await runtime(["checkpoint", "--pre-dump", "--image-path", images(), name], { FAKE_FEATURES: "mem" });
      expect(stderr).toContain(`criu cannot keep the mount point "${SPLIT}"`);
    });

    test("a mount of the container's own whose name ends early for criu", async () => {
      const name = await running((config) => {
        config.root.path = rootfs({ b: "/data\rrw" });
        config.mounts.push({ destination: "/b", type: "tmpfs", source: "tmpfs", options: [] });
      });
      const { stderr } = await runtime(["checkpoint", "--image-path", images(), name]);
      expect(stderr).toContain('criu cannot keep the mount point "/data\\rrw"');
      expect(requests()).toEqual([]);
    });

    test("at a restore: by a link of the root filesystem", async () => {
      const stderr = await refused((config) => {
        config.root.path = rootfs({ b: SPLIT });
        config.mounts.push(bind("/b", made()));
      });
      expect(stderr).toContain(`criu cannot keep the mount point "${SPLIT}"`);
    });

    test("at a restore: by a link in what is bound", async () => {
      const volume = made();
      mkdirSync(join(volume, "x]:", "etc"), { recursive: true });
      symlinkSync("x]:/etc", join(volume, "link"));
      const stderr = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt", volume), bind("/mnt/link", made()));
      });
      expect(stderr).toContain('criu cannot keep the mount point "/mnt/x]:/etc"');
    });

    test("at a restore: by the configuration, target and source", async () => {
      const target = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind(SPLIT, made()));
      });
      expect(target).toContain(`criu cannot keep the mount point "${SPLIT}"`);
      const source = await refused((config) => {
        config.root.path = rootfs({});
        config.mounts.push(bind("/mnt", made("a]:b")));
      });
      expect(source).toMatch(/criu cannot keep the mount point "\/mnt": its source ".*a\]:b" has/);
    });

    test("brackets and colons that it does not split go as they are", async () => {
      const [first, second] = [made(), made("[a]", "b:c")];
      const change = (config: Config) => {
        config.root.path = rootfs({ link: "/real[1]" });
        config.mounts = [bind("/mnt", first), bind("/link", second)];
      };
      const name = await running(change);
      await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
      expect(pairs(requests()[0]!.options, FIELD.externalMounts).sort()).toEqual([
        ["/mnt", "/mnt"],
        ["/real[1]", "/real[1]"],
      ]);
      image();
      await ok(restoreArgs(bundle(change), id()));
      const sent = pairs(requests()[1]!.options, FIELD.externalMounts);
      expect(sent).toContainEqual(["/mnt", first]);
      expect(sent).toContainEqual(["/real[1]", second]);
    });
  });

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
      image();
      const name = id();
      const path = bundle((config) => {
        config.root.readonly = true;
      });
      const { status, stderr } = await runtime(restoreArgs(path, name), { FAKE_WRITABLE: "1" });
      expect([status, stderr]).toEqual([1, expect.stringContaining("the image has the mount point / writable")]);
      expect((await runtime(["state", name])).stderr).toContain("container does not exist");
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
      await ok(restoreArgs(bundle(), id()));
      expect(readFileSync(victim, "utf8")).toBe("precious");
      for (const name of ["restore.log", "stats-restore"]) expect(lstatSync(join(images(), name)).isFile()).toBe(true);
    });

    test("only pipes and files by number take the place of this process's streams", async () => {
      image(["pipe:[12]\n", "file[/etc/shadow]", "file[1a:2b]:/etc"]);
      await ok(restoreArgs(bundle(), id()));
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
      const name = await running(() => {});
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

  test("the message is the error that ended criu, not one that it went on after", async () => {
    image();
    const log = join(made(), "log");
    writeFileSync(
      log,
      [
        "(00.04) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted",
        ...Array(30).fill("(00.05) mnt: something else"),
        "(00.06) Error (criu/mount.c:3141): mnt: No mapping for 109:(null) mountpoint",
        "(00.07) Error (criu/cr-restore.c:2331): Restoring FAILED.\n",
      ].join("\n"),
    );
    const { stderr } = await runtime(restoreArgs(bundle(), id()), { FAKE_FAIL: "restore", FAKE_LOG: log });
    expect(stderr).toContain("criu failed: type RESTORE errno 52: mnt: No mapping for 109:(null) mountpoint: log file: ");
  });

  test("a checkpoint locks the network by nftables where there is no iptables-restore", async () => {
    const name = await running(() => {});
    const programs = made();
    const lock = async () => {
      await ok(["checkpoint", "--leave-running", "--image-path", images(), name], { PATH: programs });
      return numberOf(requests().at(-1)!.options, NETWORK_LOCK);
    };
    expect(await lock()).toBe(NFTABLES);
    writeFileSync(join(programs, "iptables-restore"), "#!/bin/sh\n");
    chmodSync(join(programs, "iptables-restore"), 0o755);
    expect(await lock()).toBeUndefined();
  });
});
