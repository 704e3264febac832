/** Mounts, read-only and masked paths, in every variant of the kernel. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { hostMounts } from "../support/host-mounts.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { ATTR, CLONE_NEW, container, DEV, MS, NAMESPACES, NULL_DEVICE, type Parts, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const tmpfs = (target: string, args: object = {}): TestOp =>
  init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target, ...args });

describe.skipIf(!isRoot).each(VARIANTS)("mounts: %s", (name, options) => {
  const hasRecursive = !name.includes("5.10") && !name.includes("newer calls");
  let root: string;
  let host: string;

  beforeEach(() => {
    root = makeRootfs();
    host = mkdtempSync(join(tmpdir(), "runt-host-"));
    mkdirSync(join(host, "directory/sub"), { recursive: true });
    writeFileSync(join(host, "file"), "content\n");
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
    rmSync(host, { recursive: true, force: true });
  });

  function lines(parts: Omit<Parts, "root">): string[] {
    const { stdout, stderr, error, status } = runPlan(container({ root, ...parts }), options);
    expect(error).toBeUndefined();
    expect(stderr).toBe("");
    expect(status).toBe(0);
    return stdout.trimEnd().split("\n");
  }
  const mountInfo = (path: string): string => `grep ' ${path} ' /proc/self/mountinfo`;

  test.each(["intermediate", "init"] as const)("binds opened by %s: file and directory, made like the source", (actor) => {
    const open = (source: string, slot: number): TestOp => ({ op: "mount.open", actor, args: { source, slot } });
    const opens = [open(join(host, "file"), 5), open(join(host, "directory"), 6)];
    const binds = [
      init("mount.bind", { slot: 5, target: "/new/file", create: 2, attrSet: ATTR.readonly | ATTR.noexec }),
      init("mount.bind", { slot: 6, target: "/new/directory", create: 2, attrSet: ATTR.nosuid, propagation: [MS.private] }),
    ];
    const out = lines({
      intermediate: actor === "intermediate" ? opens : [],
      mounts: [PROC, ...(actor === "init" ? opens : []), ...binds],
      script:
        "cat /new/file; ls /new/directory; grep -c ' /new/.* shared:\\| /new/directory .* master:' /proc/self/mountinfo; for p in file directory; do grep \" /new/$p \" /proc/self/mountinfo; done",
    });
    expect(out.slice(0, 3)).toEqual(["content", "sub", "0"]);
    expect(out[3]).toContain(" ro,noexec,relatime ");
    expect(out[4]).toContain(" rw,nosuid,relatime ");
  });

  test("mount points that are made beside each other are made where the path leads by then", () => {
    const targets = ["/new/a", "/new/b", "/link/c", "/new", "/new/d", "/link/e", "/new/a/sub/f"];
    symlinkSync("new", join(root, "link"));
    const out = lines({
      intermediate: targets.map((_, index) => intermediate("mount.open", { source: join(host, "directory"), slot: 5 + index })),
      mounts: [PROC, ...targets.map((target, index) => init("mount.bind", { slot: 5 + index, target, create: 0 }))],
      script: "grep -o ' /new[^ ]* ' /proc/self/mountinfo; ls /new",
    });
    const points = targets.map((target) => ` ${target.replace("link", "new")} `);
    expect(out.slice(0, points.length)).toEqual(points);
    // What was made before /new was covered is below; what came after is in the mount.
    expect(out.slice(points.length)).toEqual(["a", "d", "e", "sub"]);
    expect(readdirSync(join(host, "directory")).sort()).toEqual(["a", "d", "e", "sub"]);
    expect(readdirSync(join(root, "new")).sort()).toEqual(["a", "b", "c"]);
  });

  test("a mount point two levels below the directory of the one before is made where it belongs", () => {
    mkdirSync(join(root, "app"));
    const targets = ["/app/data", "/app/config/files", "/app/config/more", "/app/other"];
    const out = lines({
      intermediate: targets.map((_, index) => intermediate("mount.open", { source: join(host, "directory"), slot: 5 + index })),
      mounts: [PROC, ...targets.map((target, index) => init("mount.bind", { slot: 5 + index, target, create: 0 }))],
      script: "grep -o ' /app[^ ]*' /proc/self/mountinfo",
    });
    expect(out).toEqual(targets.map((target) => ` ${target}`));
  });

  test("a read-only bind refuses writes, and clearing attributes works", () => {
    const out = lines({
      intermediate: [
        intermediate("mount.open", { source: join(host, "directory"), slot: 5 }),
        intermediate("mount.open", { source: join(host, "directory"), slot: 6 }),
      ],
      mounts: [
        PROC,
        init("mount.bind", { slot: 5, target: "/a", create: 0, attrSet: ATTR.readonly }),
        init("mount.bind", { slot: 6, target: "/b", create: 0, attrSet: ATTR.noatime | ATTR.nodev, attrClear: ATTR.atime }),
        init("mount.remount", { target: "/b", attrSet: ATTR.strictatime, attrClear: ATTR.atime | ATTR.nodev }),
      ],
      script: `touch /a/x 2>&1; touch /b/x; ${mountInfo("/b")}`,
    });
    expect(out[0]).toContain("Read-only file system");
    expect(out[1]).toMatch(/ rw (\w+:\d+ )*- /);
  });

  test("a recursive bind takes submounts along; recursive attributes reach them or are refused by name", () => {
    const nested: Parts["mounts"] = [
      PROC,
      tmpfs("/tree"),
      tmpfs("/tree/below"),
      init("mount.open", { source: `${root}/tree`, recursive: true, slot: 5 }),
      init("mount.bind", { slot: 5, target: "/copy", create: 2, recursiveSet: ATTR.readonly }),
    ];
    if (hasRecursive) {
      const out = lines({ mounts: nested, script: "grep ' /copy' /proc/self/mountinfo" });
      expect(out.map((line) => line.split(" ").slice(4, 6).join(" "))).toEqual(["/copy ro,relatime", "/copy/below ro,relatime"]);
    } else {
      const { error } = runPlan(container({ root, mounts: nested }), options);
      expect(error?.text).toContain("recursive mount attributes (Linux 5.12)");
      expect(error?.path).toBe("/copy");
    }
  });

  test("filesystems with data, flags and the mode of the covered directory", () => {
    mkdirSync(join(root, "covered"), { mode: 0o711 });
    const out = lines({
      namespaces: NAMESPACES | CLONE_NEW.network,
      mounts: [
        PROC,
        tmpfs("/covered", { inheritMode: true, data: ["size=64k"], attrSet: ATTR.nosuid }),
        tmpfs("/explicit", { inheritMode: true, data: ["mode=700"], superFlags: 1n }),
        DEV,
        init("mount.filesystem", { fstype: "mqueue", source: "mqueue", target: "/dev/mqueue", attrSet: ATTR.noexec }),
        init("mount.filesystem", { fstype: "sysfs", source: "sysfs", target: "/sys", ordinaryDirectory: true, attrSet: ATTR.readonly }),
      ],
      script:
        'stat -c %a /covered /explicit; for p in /covered /explicit /dev/mqueue /sys; do grep " $p " /proc/self/mountinfo; done; touch /explicit/x 2>&1; true',
    });
    expect(out.slice(0, 2)).toEqual(["711", "700"]);
    expect(out[2]).toMatch(/ rw,nosuid,relatime .*size=64k/);
    expect(out[3]).toMatch(/ - tmpfs tmpfs ro,/);
    expect(out[4]).toContain(" rw,noexec,relatime ");
    expect(out[5]).toContain(" ro,relatime ");
    expect(out[6]).toContain("Read-only file system");
  });

  test("nosymfollow, whatever the kernel calls know of it", () => {
    const out = lines({
      intermediate: [intermediate("mount.open", { source: join(host, "directory"), slot: 5 })],
      mounts: [
        PROC,
        tmpfs("/t", { attrSet: ATTR.nosymfollow | ATTR.nosuid }),
        init("mount.bind", { slot: 5, target: "/b", attrSet: ATTR.nosymfollow }),
      ],
      script:
        "for p in /t /b; do grep \" $p \" /proc/self/mountinfo | cut -d' ' -f6; done; busybox ln -s /etc /t/link; ls /t/link 2>&1; true",
    });
    expect(out.slice(0, 2)).toEqual(["rw,nosuid,relatime,nosymfollow", "rw,relatime,nosymfollow"]);
    expect(out[2]).toContain("Too many levels of symbolic links");
  });

  test("recursive nosymfollow of a mount that does not know it is an error by name", () => {
    const mounts = [
      PROC,
      init("mount.open", { source: host, slot: 5 }),
      init("mount.bind", { slot: 5, target: "/b", recursiveSet: ATTR.nosymfollow }),
    ];
    const { error } = runPlan(container({ root, mounts }), options);
    if (hasRecursive) expect(error).toBeUndefined();
    else expect(error?.text).toContain("recursive mount attributes (Linux 5.12)");
  });

  test("a refused option is reported with the path, and with the kernel's words where there are some", () => {
    const { error } = runPlan(container({ root, mounts: [PROC, tmpfs("/x", { data: ["nonsense=1"] })] }), options);
    expect(error).toMatchObject({ errno: 22, path: "/x", op: 6 });
    if (!name.includes("newer calls")) expect(error?.text.toLowerCase()).toContain("nonsense");
  });

  test("an overlay whose layers do not fit one fsconfig string", () => {
    const layers = Array.from({ length: 12 }, (_, index) => `layer-with-a-long-name-to-fill-the-string-${index}`);
    for (const layer of layers) {
      mkdirSync(join(host, layer));
      writeFileSync(join(host, layer, layer), "");
    }
    const lowerdir = layers.map((layer) => join(host, layer)).join(":");
    const out = lines({
      mounts: [
        PROC,
        init("mount.filesystem", {
          fstype: "overlay",
          source: "overlay",
          target: "/overlay",
          data: [`lowerdir=${lowerdir}`],
          superFlags: 1n,
        }),
      ],
      script: "ls /overlay | wc -l",
    });
    expect(out).toEqual(["12"]);
  });

  test("a word of several options is split as mount(2) splits it", () => {
    for (const layer of ["more", "a,b"]) mkdirSync(join(host, layer));
    writeFileSync(join(host, "a,b/comma"), "");
    const overlay = (target: string, lowerdir: string): TestOp =>
      init("mount.filesystem", { fstype: "overlay", source: "overlay", target, data: [lowerdir] });
    const layers = `lowerdir=${host}/directory:${host}`;
    // Without fsconfig nothing tells that the comma is one of a name.
    const named = name.includes("newer calls") ? [] : [overlay("/named", `${layers}/a,b`)];
    const out = lines({
      mounts: [
        PROC,
        tmpfs("/joined", { inheritMode: true, data: ["size=64k,mode=700", "nr_inodes=20"] }),
        tmpfs("/again", { data: ["size=64k"] }),
        init("mount.remount", { target: "/again", superblock: true, data: ["size=128k,nr_inodes=50"] }),
        overlay("/overlay", `${layers}/more,redirect_dir=nofollow`),
        ...named,
      ],
      script: `stat -c %a /joined; ${["/joined", "/again", "/overlay"].map(mountInfo).join("; ")}; ls /overlay /named 2>&1; true`,
    });
    expect(out[0]).toBe("700");
    expect(out[1]).toMatch(/ - tmpfs tmpfs rw,size=64k,nr_inodes=20,mode=700/);
    expect(out[2]).toMatch(/ - tmpfs tmpfs rw,size=128k,nr_inodes=50/);
    expect(out[3]).toContain("/more,");
    expect(out.slice(4)).toEqual(expect.arrayContaining(named.length > 0 ? ["sub", "comma"] : ["sub"]));
  });

  test("a wrong option among several is refused", () => {
    const { error } = runPlan(container({ root, mounts: [PROC, tmpfs("/x", { data: ["size=64k,nonsense=1"] })] }), options);
    expect(error).toMatchObject({ errno: 22, path: "/x", op: 6 });
  });

  test("nothing but a procfs is bound on /proc, however the path is written", () => {
    const outcome = (target: string, ...opens: TestOp[]) =>
      runPlan(container({ root, intermediate: opens, mounts: [init("mount.bind", { slot: 5, target, create: 2 })] }), options).error;
    const open = (source: string): TestOp => intermediate("mount.open", { source, slot: 5 });
    symlinkSync("/etc", join(host, "link"));
    const refusal = { errno: 22, text: "cannot be mounted because it is not of type proc" };
    for (const target of ["/proc", "//proc/", "/./proc", "/bin/../proc", "/../proc"])
      expect(outcome(target, open(join(host, "directory"))), target).toMatchObject(refusal);
    expect(outcome("/proc", intermediate("mount.openLink", { source: join(host, "link"), copy: true, slot: 5 }))).toMatchObject(refusal);
    expect(outcome("/proc", open("/proc"))).toBeUndefined();
    for (const target of ["/process", "/bin/proc", "/proc/../pro"])
      expect(outcome(target, open(join(host, "directory"))), target).toBeUndefined();
  });

  test("remounting a superblock", () => {
    const out = lines({
      mounts: [
        PROC,
        tmpfs("/t", { data: ["size=64k"] }),
        init("mount.remount", { target: "/t", superblock: true, data: ["size=128k"], superFlags: 1n }),
      ],
      script: mountInfo("/t"),
    });
    expect(out[0]).toMatch(/ - tmpfs tmpfs ro,.*size=128k/);
  });

  test("what is bound in the container does not appear on the host, and the root's propagation is set last", () => {
    const out = lines({
      propagation: MS.slave | MS.rec,
      mounts: [PROC, tmpfs("/t")],
      pivot: [init("root.pivot"), init("root.finalPropagation", { flags: MS.shared })],
      script: `${mountInfo("/")}; ${mountInfo("/t")}`,
    });
    expect(out[0]).toMatch(/ \/ \/? ?.*shared:\d+/);
    expect(out[1]).not.toContain("shared:");
  });

  test("read-only paths take the mounts below along, or there is a warning", () => {
    const mounts = [PROC, tmpfs("/t"), tmpfs("/t/below")];
    const script = "touch /t/x 2>&1; touch /t/below/x 2>&1 && echo written";
    const { stdout, error, warnings } = runPlan(
      container({ root, mounts, paths: [init("path.readonly", { path: "/t" })], script }),
      options,
    );
    expect(error).toBeUndefined();
    const out = stdout.trim().split("\n");
    expect(out[0]).toContain("Read-only file system");
    expect(out[1]).toContain(hasRecursive ? "Read-only file system" : "written");
    const words = ["mounts below a read-only path stay as they are (needs Linux 5.12)"];
    expect(warnings.map(({ text }) => text)).toEqual(hasRecursive ? [] : words);
  });

  test("root read-only, not the mounts below it", () => {
    const out = lines({ mounts: [PROC, tmpfs("/t")], paths: [init("root.readonly")], script: "touch /x 2>&1; touch /t/x && echo fine" });
    expect(out[0]).toContain("Read-only file system");
    expect(out[1]).toBe("fine");
  });

  test("read-only and masked paths; missing ones are skipped", () => {
    mkdirSync(join(root, "secret"));
    writeFileSync(join(root, "secret/key"), "secret");
    writeFileSync(join(root, "file"), "secret");
    mkdirSync(join(root, "keep"));
    const out = lines({
      intermediate: [intermediate("proc.open"), intermediate("mask.open")],
      mounts: [PROC, DEV, NULL_DEVICE],
      paths: [
        ...["/keep", "/proc/sys", "/missing", "/file/below"].map((path) => init("path.readonly", { path })),
        ...["/secret", "/proc/tty", "/proc/fs", "/file", "/proc/keys", "/proc/timer_list", "/missing"].map((path) =>
          init("path.mask", { path }),
        ),
      ],
      script:
        "touch /keep/x 2>&1; ls -a /secret /proc/tty /proc/fs | wc -w; touch /secret/x 2>&1; wc -c </file; wc -c </proc/keys; grep -c nodev /proc/self/mountinfo; stat -c '%t %T' /file /proc/timer_list; touch /x && echo fine",
    });
    expect(out[0]).toContain("Read-only file system");
    expect(out[1]).toBe("9");
    expect(out[2]).toContain("Read-only file system");
    expect(out.slice(3, 5)).toEqual(["0", "0"]);
    expect(out.slice(-3)).toEqual(["1 3", "1 3", "fine"]);
  });

  test("the root itself is no mount target, by whatever name; a mount point must be there to be remounted", () => {
    symlinkSync("/", join(root, "to-root"));
    for (const target of ["/", "/.", "/../..", "/to-root", "/bin/..", ""]) {
      const { error } = runPlan(container({ root, mounts: [tmpfs(target)] }), options);
      expect(error).toMatchObject({ errno: 22, text: "mount target is the root itself" });
    }
    const { error } = runPlan(
      container({ root, mounts: [PROC, init("mount.remount", { target: "/tmp", attrSet: ATTR.readonly })] }),
      options,
    );
    expect(error).toMatchObject({ errno: 22, path: "/tmp" });
  });

  test("without pivot_root: moved, and no procfs or sysfs is left outside", () => {
    const out = lines({
      intermediate: [intermediate("proc.open")],
      pivot: [init("root.move")],
      script: "cut -d' ' -f5 /proc/self/mountinfo 2>/dev/null || cat /proc/self/mountinfo; readlink /proc/1/root",
    });
    expect(out.at(-1)).toBe("/");
    expect(out.filter((line) => line.includes("sysfs"))).toEqual([]);
  });

  test("without pivot_root and with shared propagation, the host keeps its procfs", () => {
    const before = hostMounts(root, host);
    const plan = container({ root, propagation: MS.shared | MS.rec, pivot: [init("root.move")], script: "ls /" });
    const { error, stdout } = runPlan(plan, {
      ...options,
      prefix: ["unshare", "--mount", "--propagation", "shared", "sh", "-c", '"$@"; [ -e /proc/self/stat ] && echo kept', "sh"],
    });
    expect(error).toBeUndefined();
    expect(stdout).toContain("kept");
    expect(hostMounts(root, host)).toEqual(before);
  });

  test("a root file system on a shared mount", () => {
    expect(lines({ propagation: MS.shared | MS.rec, script: mountInfo("/") })[0]).not.toContain("shared:");
  });
});
