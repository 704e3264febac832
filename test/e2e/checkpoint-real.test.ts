/**
 * checkpoint and restore of the bundle that `spec` writes, with a real criu: what stays and what is refused. Elsewhere criu only speaks its
 * protocol (checkpoint.test.ts); what else a real one does is shown in the guest (test/guest/cases/checkpoint.test.ts).
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { criuMissing } from "../support/criu.ts";
import { shell, useHarness } from "../support/harness.ts";
import { sharedRootfs } from "../support/programs.ts";

const ROUNDS = 10;
const TIMEOUT = 120_000;
/** Its count is in the memory of the shell and, to be seen from outside, in a tmpfs that criu saves. */
const COUNTER = "n=0; while :; do n=$((n+1)); echo $n >/dev/shm/count; usleep 10000; done";

const missing = criuMissing();

describe.skipIf(missing !== undefined)(`a real criu${missing ? ` (${missing})` : ""}`, { timeout: TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime } = harness;
  let count = 0;
  let endings: (() => void)[] = [];

  afterEach(async () => {
    for (const end of endings.reverse()) end();
    endings = [];
  });

  const bind = (destination: string, source: string, ...options: string[]) => ({
    destination,
    type: "bind",
    source,
    options: ["bind", ...options],
  });

  function made(): string {
    const path = join(harness.directory, `made-${++count}`);
    mkdirSync(path);
    return path;
  }

  const images = () => join(harness.directory, `images-${++count}`);

  /** The bundle of spec with a counter, and a root filesystem of its own. */
  async function specBundle(change: (config: Config, rootfs: string) => void = () => {}): Promise<string> {
    const path = made();
    await ok(["spec", "-b", path]);
    const rootfs = join(path, "rootfs");
    execFileSync("cp", ["-a", sharedRootfs(), rootfs]);
    const file = join(path, "config.json");
    const config: Config = JSON.parse(readFileSync(file, "utf8"));
    config.process.terminal = false;
    config.linux.cgroupsPath = `/runt-test-${process.pid}/real-${count}`;
    shell(config, COUNTER);
    change(config, rootfs);
    writeFileSync(file, JSON.stringify(config));
    return path;
  }

  function edit(bundle: string, change: (config: Config) => void): void {
    const file = join(bundle, "config.json");
    const config: Config = JSON.parse(readFileSync(file, "utf8"));
    change(config);
    writeFileSync(file, JSON.stringify(config));
  }

  const counted = async (name: string) => Number(await ok(["exec", name, "cat", "/dev/shm/count"]));
  const passes = (name: string, least: number) => expect.poll(() => counted(name)).toBeGreaterThan(least);
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  async function counting(path: string): Promise<string> {
    const name = id();
    await ok(["run", "-d", "-b", path, name]);
    await passes(name, 3);
    return name;
  }

  const restore = (name: string, path: string, image: string) => runtime(["restore", "-d", "--image-path", image, "-b", path, name]);

  async function saved(name: string, ...flags: string[]): Promise<string> {
    const image = images();
    expect(await runtime(["checkpoint", ...flags, "--image-path", image, name])).toEqual({ status: 0, stdout: "", stderr: "" });
    return image;
  }

  /** Restores it, and sees that it goes on from there. */
  async function goesOn(name: string, path: string, image: string, before: number): Promise<void> {
    expect(await restore(name, path, image)).toEqual({ status: 0, stdout: "", stderr: "" });
    expect((await stateOf(name)).status).toBe("running");
    await passes(name, before);
    await passes(name, await counted(name));
  }

  /** Place, flags and source directory of the container's mounts of this test's directories. */
  const mountsOf = async (name: string) =>
    readFileSync(`/proc/${(await stateOf(name)).pid}/mountinfo`, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .filter((fields) => fields[3]!.startsWith(harness.directory) || fields[4]!.startsWith("/mnt"))
      .map((fields) => fields.slice(3, 6))
      .sort();

  test(`the bundle of spec goes on, ${ROUNDS} times of ${ROUNDS}`, async () => {
    const path = await specBundle();
    for (let round = 0; round < ROUNDS; round++) {
      const name = await counting(path);
      const before = await counted(name);
      await goesOn(name, path, await saved(name), before);
      await ok(["delete", "--force", name]);
    }
  });

  test("--leave-running, and again from the restored one", async () => {
    const path = await specBundle();
    const name = await counting(path);
    const before = await counted(name);
    const image = await saved(name, "--leave-running");
    await passes(name, await counted(name));
    await ok(["delete", "--force", name]);
    await goesOn(name, path, image, before);
    const later = await counted(name);
    await goesOn(name, path, await saved(name), later);
  });

  test("exec sees the clocks of the container's own processes", async () => {
    const path = await specBundle();
    const name = await counting(path);
    const image = await saved(name);
    expect((await restore(name, path, image)).status).toBe(0);
    const { pid } = await stateOf(name);
    const namespace = (process: string | number) => readlinkSync(`/proc/${process}/ns/time`);
    expect(namespace(pid)).not.toBe(namespace("self"));
    expect((await ok(["exec", name, "readlink", "/proc/self/ns/time"])).trim()).toBe(namespace(pid));
  });

  test("cgroups of others are neither saved nor made again", async () => {
    const path = await specBundle();
    const name = await counting(path);
    // After the container: it is in the root of this hierarchy.
    const hierarchy = made();
    execFileSync("mount", ["-t", "cgroup", "-o", `none,name=runt-test-${process.pid}`, "runt-test", hierarchy]);
    endings.push(() => execFileSync("umount", [hierarchy]));
    const other = join(hierarchy, "other");
    mkdirSync(other);
    const image = await saved(name);
    rmdirSync(other);
    const { status, stderr } = await restore(name, path, image);
    const isMade = existsSync(other);
    if (isMade) rmdirSync(other);
    expect([status, stderr, isMade]).toEqual([0, "", false]);
    await ok(["delete", "--force", name]);
  });

  test("nested mount points that are gone are made again", async () => {
    const [volume, other] = [made(), made()];
    const path = await specBundle((config) => config.mounts.push(bind("/mnt", volume), bind("/mnt/a/b", other), bind("/tmp", ".")));
    const name = await counting(path);
    const mounts = await mountsOf(name);
    const image = await saved(name);
    rmSync(join(volume, "a"), { recursive: true });
    expect(await restore(name, path, image)).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(await mountsOf(name)).toEqual(mounts);
    expect(mounts.map(([, place]) => place)).toEqual(expect.arrayContaining(["/mnt", "/mnt/a/b", "/tmp"]));
  });

  describe("what is read-only stays so", () => {
    /** A directory on which it is mounted itself; in no peer group, of which criu would take this mount for the widest. */
    function mounted(readonly: boolean): string {
      const path = made();
      execFileSync("mount", ["--bind", "--make-private", path, path]);
      endings.push(() => execFileSync("umount", [path]));
      if (readonly) protect(path);
      return path;
    }
    const protect = (path: string) => execFileSync("mount", ["-o", "remount,bind,ro", path]);

    test("by the configuration, by a flag of the source's mount, below a recursive bind", async () => {
      const [asked, source, tree] = [made(), mounted(true), made()];
      mkdirSync(join(tree, "sub"));
      execFileSync("mount", ["-t", "tmpfs", "runt-test", join(tree, "sub")]);
      endings.push(() => execFileSync("umount", [join(tree, "sub")]));
      const path = await specBundle((config, rootfs) => {
        for (const name of ["1", "2", "3"]) mkdirSync(join(rootfs, "mnt", name), { recursive: true });
        config.mounts.push(bind("/mnt/1", asked, "ro"), bind("/mnt/2", source), { ...bind("/mnt/3", tree), options: ["rbind", "rro"] });
      });
      const name = await counting(path);
      const mounts = await mountsOf(name);
      expect(mounts.map(([, place, flags]) => [place, flags!.split(",")[0]])).toEqual(
        expect.arrayContaining([
          ["/mnt/1", "ro"],
          ["/mnt/2", "ro"],
          ["/mnt/3", "ro"],
          ["/mnt/3/sub", "ro"],
        ]),
      );
      expect(await restore(name, path, await saved(name))).toEqual({ status: 0, stdout: "", stderr: "" });
      expect(await mountsOf(name)).toEqual(mounts);
      for (const place of ["/mnt/1", "/mnt/2", "/mnt/3/sub"])
        expect((await runtime(["exec", name, "touch", `${place}/new`])).stderr).toContain("Read-only file system");
    });

    test("criu would make it writable again: a source, or a bundle, that has become read-only meanwhile is refused", async () => {
      const source = mounted(false);
      const path = await specBundle((config) => config.mounts.push(bind("/mnt", source)));
      const name = await counting(path);
      const image = await saved(name);
      protect(source);
      const refused = await restore(name, path, image);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("the image has the mount point /mnt writable")]);
      execFileSync("mount", ["-o", "remount,bind,rw", source]);
      edit(path, (config) => config.mounts.at(-1)!.options!.push("ro"));
      const again = await restore(name, path, image);
      expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("the image has the mount point /mnt writable")]);
      expect((await runtime(["state", name])).stderr).toContain("container does not exist");
      edit(path, (config) => config.mounts.at(-1)!.options!.pop());
      expect((await restore(name, path, image)).status).toBe(0);
    });
  });

  describe("an image whose links make names that criu splits (CVE-2026-119614, CVE-2026-119101, CVE-2026-115520)", () => {
    /**
     * Two volumes, and a third directory that no bundle names. The link /b of the image leads to `/data]:VOLUME/l`: of the two texts that criu
     * gets at a restore, that of /b begins with `mnt[/data]:`, and what follows is a path in the volume, whose links the container makes.
     */
    async function prepared(trapped: boolean) {
      const [volume, data, secret] = [made(), made(), made()];
      const [top = "", ...below] = volume.split("/").filter(Boolean);
      mkdirSync(join(secret, ...below), { recursive: true });
      mkdirSync(join(volume, "l]:"));
      symlinkSync(secret, join(volume, "l]:", top));
      const split = `/data]:${volume}/l`;
      const lay = (rootfs: string) => {
        mkdirSync(join(rootfs, split), { recursive: true });
        rmSync(join(rootfs, "b"), { recursive: true, force: true });
        symlinkSync(split, join(rootfs, "b"));
      };
      const path = await specBundle((config, rootfs) => {
        mkdirSync(join(rootfs, "data"), { recursive: true });
        mkdirSync(join(rootfs, "b"), { recursive: true });
        if (trapped) lay(rootfs);
        config.mounts.push(bind("/b", volume), bind("/data", data));
      });
      const written = () => (existsSync(join(secret, ...below)) ? readdirSync(join(secret, ...below)) : []);
      return { path, split, written, spring: () => lay(join(path, "rootfs")) };
    }

    test("is not dumped: the mount point is named, and the container goes on", async () => {
      const { path, split, written } = await prepared(true);
      const name = await counting(path);
      const image = images();
      const { status, stderr } = await runtime(["checkpoint", "--image-path", image, name]);
      if (status === 0) {
        await restore(name, path, image);
        await runtime(["exec", name, "touch", "/data/pwned"]);
      }
      expect(written()).toEqual([]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point ${JSON.stringify(split)}`)]);
      await passes(name, await counted(name));
    });

    test("is not restored where the link came after the dump", async () => {
      const { path, split, written, spring } = await prepared(false);
      const name = await counting(path);
      const image = await saved(name);
      spring();
      const { status, stderr } = await restore(name, path, image);
      if (status === 0) await runtime(["exec", name, "touch", "/data/pwned"]);
      expect(written()).toEqual([]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point ${JSON.stringify(split)}`)]);
    });
  });

  test("the message is the error that ended criu", async () => {
    const path = await specBundle((config) => config.mounts.push(bind("/mnt", made())));
    const name = await counting(path);
    const image = await saved(name);
    edit(path, (config) => config.mounts.pop());
    const { status, stderr } = await restore(name, path, image);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/: mnt: No mapping for \d+:\S+ mountpoint: log file: \S+\/restore\.log\n$/),
    ]);
  });
});
