/** A hostile root filesystem: whatever its links say, nothing outside changes, and what is legal inside works. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CREATE } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { ATTR, container, DEV, DEVPTS, NULL_DEVICE, PROC, S_IFCHR, S_IFIFO } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const EEXIST = 17;
const ENOTDIR = 20;
const EINVAL = 22;
const ELOOP = 40;
const ENAMETOOLONG = 36;

describe.skipIf(!isRoot).each(VARIANTS)("paths in the root: %s", (_, options) => {
  let root: string;
  let victim: string;

  beforeEach(() => {
    root = makeRootfs();
    victim = mkdtempSync(join(tmpdir(), "runt-victim-"));
    chmodSync(victim, 0o755);
  });
  afterEach(() => {
    expect(readdirSync(victim)).toEqual([]);
    rmSync(root, { recursive: true, force: true });
    rmSync(victim, { recursive: true, force: true });
  });

  function run(mounts: readonly TestOp[], script = ":", paths: readonly TestOp[] = []): Outcome {
    return runPlan(container({ root, intermediate: [intermediate("mask.open")], mounts: [PROC, ...mounts], paths, script }), options);
  }
  const tmpfs = (target: string): TestOp => init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target });
  /** The same path under the root as the victim has on the host. */
  const inside = (): string => join(root, victim);

  test("absolute and climbing links lead to the root's own paths, made where they point", () => {
    symlinkSync(victim, join(root, "absolute"));
    symlinkSync(`../../../../../../..${victim}`, join(root, "climbing"));
    symlinkSync("/absolute", join(root, "twice"));
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("../../../../absolute", join(root, "a/b/deep"));
    const targets = ["/absolute/one", "/climbing/two", "/twice/three", "/a/b/deep/four", "/../../absolute/five"];
    const { error, stdout } = run(targets.map(tmpfs), "grep -c tmpfs /proc/self/mountinfo");
    expect(error).toBeUndefined();
    expect(stdout.trim()).toBe("5");
    expect(readdirSync(inside()).sort()).toEqual(["five", "four", "one", "three", "two"]);
  });

  test("a dangling link is filled in inside", () => {
    symlinkSync("/run", join(root, "dangling"));
    const { error } = run([init("directory.create", { path: "/dangling/lock/x", mode: 0o700 })]);
    expect(error).toBeUndefined();
    expect(statSync(join(root, "run/lock/x")).mode & 0o777).toBe(0o700);
  });

  test("`..` behind a link means the parent of what the link leads to", () => {
    mkdirSync(join(root, "x/y/z"), { recursive: true });
    symlinkSync("/x/y/z", join(root, "link"));
    const { error } = run([init("directory.create", { path: "/link/../made/./here", mode: 0o755 })]);
    expect(error).toBeUndefined();
    expect(existsSync(join(root, "x/y/made/here"))).toBe(true);
  });

  test("loops of links end", () => {
    symlinkSync("b", join(root, "a"));
    symlinkSync("a", join(root, "b"));
    expect(run([tmpfs("/a/x")]).error).toMatchObject({ errno: ELOOP, path: "/a/x" });
  });

  test("proc and sysfs only on ordinary directories", () => {
    rmSync(join(root, "proc"), { recursive: true });
    symlinkSync("tmp", join(root, "proc"));
    expect(runPlan(container({ root }), options).error).toMatchObject({ errno: ELOOP, text: "must be mounted on ordinary directory" });
    rmSync(join(root, "proc"));
    writeFileSync(join(root, "proc"), "");
    expect(runPlan(container({ root }), options).error).toMatchObject({ errno: ENOTDIR, text: "must be mounted on ordinary directory" });
    rmSync(join(root, "proc"));
    expect(runPlan(container({ root }), options).error).toBeUndefined();
  });

  test("devices: made with exact modes, kept when right, refused when something else is there", () => {
    symlinkSync(join(victim, "x"), join(root, "dev/link"));
    writeFileSync(join(root, "dev/file"), "");
    const device = (path: string, args: object = {}): TestOp =>
      init("device.create", { path, type: S_IFCHR, major: 1, minor: 5, mode: 0o640, uid: 3, gid: 4, ...args });
    for (const path of ["/dev/link", "/dev/file"]) expect(run([device(path)]).error).toMatchObject({ errno: EEXIST, path });
    for (const path of ["/", "/dev/..", "/dev/."]) expect(run([device(path)]).error).toMatchObject({ errno: EINVAL });
    const { error, stdout } = run(
      [
        device("/dev/z"),
        device("/dev/z"),
        device("/dev/big", { major: 259, minor: 70_000 }),
        device("/dev/sub/fifo", { type: S_IFIFO, mode: 0o606 }),
      ],
      "stat -c '%n %F %t:%T %a %u:%g' /dev/z /dev/big /dev/sub/fifo",
    );
    expect(error).toBeUndefined();
    expect(stdout.trim().split("\n")).toEqual([
      "/dev/z character special file 1:5 640 3:4",
      "/dev/big character special file 103:11170 640 3:4",
      "/dev/sub/fifo fifo 0:0 606 3:4",
    ]);
  });

  test("/dev as a link (CVE-2026-41579): nothing is made behind it", () => {
    rmSync(join(root, "dev"), { recursive: true });
    mkdirSync(inside(), { recursive: true });
    symlinkSync(`../../../..${victim}`, join(root, "dev"));
    const link = init("symlink.create", { path: "/dev/ptmx", text: "pts/ptmx", replace: true });
    for (const operation of [link, NULL_DEVICE]) expect(run([operation]).error).toMatchObject({ errno: ELOOP });
    expect(readdirSync(inside())).toEqual([]);
  });

  test("links: kept when the same, replaced or refused when not", () => {
    symlinkSync("old", join(root, "dev/ptmx"));
    symlinkSync("/proc/self/fd", join(root, "dev/fd"));
    writeFileSync(join(root, "dev/core"), "");
    const link = (path: string, text: string, replace: boolean): TestOp => init("symlink.create", { path, text, replace });
    expect(run([link("/dev/core", "/proc/kcore", false)]).error).toMatchObject({ errno: EEXIST, path: "/dev/core" });
    expect(run([link("/dev/ptmx", "pts/ptmx", true), link("/dev/fd", "/proc/self/fd", false)]).error).toBeUndefined();
    expect(readlinkSync(join(root, "dev/ptmx"))).toBe("pts/ptmx");
  });

  test("masks follow links inside only, and never a link at the null device", () => {
    symlinkSync(victim, join(root, "mask"));
    mkdirSync(inside(), { recursive: true });
    writeFileSync(join(root, "key"), "secret");
    const paths = [init("path.mask", { path: "/mask" }), init("path.mask", { path: "/key" }), init("path.readonly", { path: "/mask" })];
    const { error, stdout } = run([DEV, NULL_DEVICE], `cat /key; touch ${victim}/x 2>/dev/null || echo refused`, paths);
    expect(error).toBeUndefined();
    expect(stdout.trim()).toBe("refused");
    expect(readdirSync(inside())).toEqual([]);
  });

  test("the terminal: no link, no file, no foreign devpts is taken for one", () => {
    const console = init("console.open", { rows: 24, columns: 80, bindConsole: true });
    mkdirSync(join(root, "dev/pts"));
    symlinkSync("/tmp/x", join(root, "dev/pts/ptmx"));
    expect(run([console]).error).toMatchObject({ path: "/dev/pts/ptmx" });
    rmSync(join(root, "dev/pts/ptmx"));
    expect(
      run([init("device.create", { path: "/dev/pts/ptmx", type: S_IFCHR, major: 5, minor: 2, mode: 0o666 }), console]).error,
    ).toMatchObject({ path: "/dev/pts/ptmx" });
    symlinkSync("/tmp/target", join(root, "dev/console"));
    rmSync(join(root, "dev/pts"), { recursive: true });
    expect(run([DEVPTS, console]).error).toMatchObject({ errno: ELOOP, path: "/dev/console" });
    expect(existsSync(join(root, "tmp/target"))).toBe(false);
  });

  test("sysctls stay below /proc/sys", () => {
    for (const key of ["../self/comm", "kernel/../../self/comm", "/etc/passwd", ""]) {
      expect(run([], ":", [init("sysctl.write", { key, value: "x" })]).error?.path).toBe(key);
    }
    const { error, stdout } = run([], "cat /proc/sys/kernel/hostname", [
      init("sysctl.write", { key: "kernel/hostname", value: "by-sysctl" }),
    ]);
    expect(error).toBeUndefined();
    expect(stdout.trim()).toBe("by-sysctl");
  });

  test("the root filesystem may not be a link or a file", () => {
    const link = join(victim, "link");
    symlinkSync(root, link);
    writeFileSync(join(victim, "file"), "");
    for (const path of [link, join(victim, "file")])
      expect(runPlan(container({ root: path }), options).error).toMatchObject({ errno: ENOTDIR, path });
    rmSync(link);
    rmSync(join(victim, "file"));
  });

  test("a read-only mount below a target is no reason to fail", () => {
    const { error } = run([
      tmpfs("/t"),
      init("directory.create", { path: "/t/sub" }),
      init("mount.remount", { target: "/t", attrSet: ATTR.readonly }),
      tmpfs("/t/sub"),
    ]);
    expect(error).toBeUndefined();
  });

  test("a directory that turns into a link and back while it is used (CVE-2021-30465, CVE-2024-45310)", () => {
    mkdirSync(join(root, "vol/flip"), { recursive: true });
    symlinkSync(`../../../../../../../..${victim}`, join(root, "vol/link"));
    const flipper = spawn(
      "sh",
      ["-c", "cd $0; while :; do mv -T flip was; mv -T link flip; mv -T flip link; mv -T was flip; done", join(root, "vol")],
      { stdio: "ignore" },
    );
    try {
      for (let round = 0; round < 5; round++) {
        const targets = Array.from({ length: 60 }, (_, index) => `/vol/flip/${round}-${index}/x`);
        const operations = targets.flatMap((path, index) => [
          init("directory.create", { path, mode: 0o755 }),
          index % 2 === 0 ? tmpfs(path) : init("device.create", { path: `${path}/null`, type: S_IFCHR, major: 1, minor: 3, mode: 0o666 }),
        ]);
        // Losing the race may fail the container, but nothing outside may change.
        run(operations);
        expect(readdirSync(victim)).toEqual([]);
      }
    } finally {
      flipper.kill("SIGKILL");
    }
  });

  test("a file is made where a link says, inside", () => {
    symlinkSync(`${victim}/made`, join(root, "link"));
    const source = join(root, "etc/source");
    writeFileSync(source, "bound");
    const { error, stdout } = runPlan(
      container({
        root,
        intermediate: [intermediate("mount.open", { slot: 5, source })],
        mounts: [PROC, init("mount.bind", { slot: 5, target: "/link", create: CREATE.likeSource })],
        script: `cat ${victim}/made`,
      }),
      options,
    );
    expect(error).toBeUndefined();
    expect(stdout).toBe("bound");
    expect(statSync(join(inside(), "made")).size).toBe(0);
  });

  test("what is too long, or has too many links, is refused", () => {
    const long = "n".repeat(256);
    for (let link = 0; link < 42; link++) symlinkSync(`${link + 1}`, join(root, `${link}`));
    symlinkSync(`${"d/".repeat(2000)}end`, join(root, "wide"));
    for (const [path, errno] of [
      [`/${long}/x`, ENAMETOOLONG],
      [`/${"d/".repeat(2500)}x`, ENAMETOOLONG],
      [`/wide/${"d/".repeat(200)}x`, ENAMETOOLONG],
      ["/0/x", ELOOP],
    ] as const)
      expect(run([tmpfs(path)]).error, path.slice(0, 20)).toMatchObject({ errno });
    // Not 39 of them: on a busy host the kernel begins a lookup anew, and goes on counting links (fs/namei.c, total_link_count).
    expect(run([tmpfs("/30/x")]).error).toBeUndefined();
  });

  test("a directory that is moved out of the root while it is walked: `..` does not lead after it", async () => {
    mkdirSync(join(root, "vol/moved/deep"), { recursive: true });
    const away = mkdtempSync(join(tmpdir(), "runt-away-"));
    const mover = spawn(
      "sh",
      ["-c", "until [ -e $1/stop ]; do mv -T $0/moved $1/moved; mv -T $1/moved $0/moved; done", join(root, "vol"), away],
      {
        stdio: "ignore",
      },
    );
    try {
      for (let round = 0; round < 5; round++) {
        const paths = Array.from({ length: 60 }, (_, index) => `/vol/moved/deep/../../${round}-${index}/../${round}/x`);
        run(paths.flatMap((path) => [init("directory.create", { path, mode: 0o755 }), tmpfs(path)]));
        expect(readdirSync(away).filter((name) => name !== "moved")).toEqual([]);
      }
    } finally {
      const ended = once(mover, "exit");
      writeFileSync(join(away, "stop"), "");
      await ended;
      rmSync(away, { recursive: true, force: true });
    }
  });
});
