/** Binds and symlinks: crun's words copy-symlink, src-nofollow and dest-nofollow, and links of a hostile root. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { container, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const SLOT = 5;
const FILE = 1;
const NOT_FOLLOWED = 4;

describe.skipIf(!isRoot).each(VARIANTS)("links: %s", (name, options) => {
  const hasOpenTree = !name.includes("newer calls");
  let root: string;
  let host: string;

  beforeEach(() => {
    root = makeRootfs();
    host = mkdtempSync(join(tmpdir(), "runt-host-"));
    writeFileSync(join(host, "file"), "content\n");
    symlinkSync("file", join(host, "link"));
    symlinkSync("nowhere", join(host, "dangling"));
  });
  afterEach(() => {
    for (const path of [root, host]) rmSync(path, { recursive: true, force: true });
  });

  const openLink = (source: string, copy: boolean): TestOp =>
    intermediate("mount.openLink", { source: join(host, source), copy, slot: SLOT });
  const open = (source: string): TestOp => intermediate("mount.open", { source: join(host, source), slot: SLOT });
  const bind = (target: string, create = 2): TestOp => init("mount.bind", { slot: SLOT, target, create });
  const run = (opened: TestOp, bound: TestOp, script = ":"): Outcome =>
    runPlan(container({ root, intermediate: [opened], mounts: [PROC, bound], script }), options);

  test("a link is copied, into directories that are made; the same link again is fine", () => {
    for (let time = 0; time < 2; time++) {
      const { error, stdout } = run(openLink("dangling", true), bind("/a/b/copy"), "readlink /a/b/copy");
      expect(error).toBeUndefined();
      expect(stdout).toBe("nowhere\n");
    }
    expect(readlinkSync(join(root, "a/b/copy"))).toBe("nowhere");
  });

  test("a link is not copied over anything else", () => {
    symlinkSync("elsewhere", join(root, "other"));
    writeFileSync(join(root, "file"), "");
    for (const target of ["/other", "/file", "/bin"]) {
      expect(run(openLink("link", true), bind(target)).error).toMatchObject({ errno: 17, path: target, text: "symlink" });
    }
    expect(readlinkSync(join(root, "other"))).toBe("elsewhere");
  });

  test("what is no link is bound as usual", () => {
    const { error, stdout } = run(openLink("file", true), bind("/bound"), "cat /bound; grep -c ' /bound ' /proc/self/mountinfo");
    expect(error).toBeUndefined();
    expect(stdout).toBe("content\n1\n");
  });

  test("a link has no ids to map", () => {
    const ids = intermediate("idmap.open", { uidMap: [0, 1, 1], gidMap: [0, 1, 1], slot: 6 });
    const map = intermediate("mount.idmap", { slot: SLOT, userNamespace: 6 });
    const plan = container({
      root,
      intermediate: [openLink("link", true), ids, map],
      mounts: [PROC, bind("/copy")],
      script: "readlink /copy",
    });
    expect(runPlan(plan, options)).toMatchObject({ error: undefined, stdout: "file\n" });
  });

  test.runIf(hasOpenTree)("a link that is the source is bound itself", () => {
    const { error, stdout } = run(openLink("dangling", false), bind("/bound"), "readlink /bound; grep -c ' /bound ' /proc/self/mountinfo");
    expect(error).toBeUndefined();
    expect(stdout).toBe("nowhere\n1\n");
  });

  test.runIf(hasOpenTree)("a source that has to be one file is bound if it is, and refused if another one has its name", () => {
    const { dev, ino } = statSync(join(host, "file"), { bigint: true });
    const opened = (device: bigint, inode: bigint): TestOp =>
      intermediate("mount.openLink", { source: join(host, "file"), device, inode, slot: SLOT });
    expect(run(opened(dev, ino), bind("/bound"), "cat /bound")).toMatchObject({ error: undefined, stdout: "content\n" });
    for (const other of [opened(dev, ino + 1n), opened(dev + 1n, ino)])
      expect(run(other, bind("/bound")).error).toMatchObject({ errno: 116, path: join(host, "file") });
  });

  test.runIf(!hasOpenTree)("without open_tree a link cannot be bound", () => {
    expect(run(openLink("link", false), bind("/bound")).error?.text).toBe("open_tree: src-nofollow needs it");
  });

  test("a link that is the target is mounted on, and not what it leads to", () => {
    writeFileSync(join(root, "victim"), "untouched\n");
    symlinkSync("victim", join(root, "link"));
    const { error, stdout } = run(open("file"), bind("/link", NOT_FOLLOWED), "cat /link /victim; grep -c ' /victim ' /proc/self/mountinfo");
    expect(error).toBeUndefined();
    expect(stdout).toBe("content\nuntouched\n0\n");
  });

  test("a target that is not there is made", () => {
    const { error, stdout } = run(open("file"), bind("/new/file", NOT_FOLLOWED), "cat /new/file");
    expect(error).toBeUndefined();
    expect(stdout).toBe("content\n");
  });

  test("nothing is made in a /dev that a link leads to, nor below one", () => {
    const device = init("device.create", { path: "/dev/zero", type: 0o20000, major: 1, minor: 5, mode: 0o666 });
    const link = init("symlink.create", { path: "/dev/fd", text: "/proc/self/fd", replace: true });
    mkdirSync(join(root, "volume"));
    rmSync(join(root, "dev"), { recursive: true, force: true });
    symlinkSync("volume", join(root, "dev"));
    for (const made of [device, link]) expect(runPlan(container({ root, mounts: [made] }), options).error).toMatchObject({ errno: 40 });
    expect(run(open("file"), bind("/dev/null", FILE)).error).toMatchObject({ errno: 40, path: "/dev/null" });
    expect(readdirSync(join(root, "volume"))).toEqual([]);
    rmSync(join(root, "dev"));
    mkdirSync(join(root, "dev"));
    symlinkSync("../volume", join(root, "dev/below"));
    const below = init("symlink.create", { path: "/dev/below/fd", text: "x" });
    expect(runPlan(container({ root, mounts: [below] }), options).error).toMatchObject({ errno: 40 });
    expect(readdirSync(join(root, "volume"))).toEqual([]);
  });

  test("no link leads a mount into a procfs", () => {
    symlinkSync("/proc/sys", join(root, "innocent"));
    mkdirSync(join(root, "etc"), { recursive: true });
    symlinkSync("/proc/uptime", join(root, "etc/mtab"));
    for (const target of ["/innocent/kernel", "/etc/mtab"]) {
      const opened = target === "/etc/mtab" ? open("file") : open(".");
      expect(run(opened, bind(target)).error).toMatchObject({
        errno: 40,
        path: target,
        text: "a symlink leads the mount target into a procfs",
      });
    }
    expect(run(open("file"), bind("/proc/uptime"), "cat /proc/uptime").stdout).toBe("content\n");
    expect(readdirSync(host)).toHaveLength(3);
  });
});
