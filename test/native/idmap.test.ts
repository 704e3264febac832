/** Mapped ids: user namespaces for them, mounts that show them, and what is refused. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { ATTR, container, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const IDS = 5;
const MOUNT = 6;
const openIds = (uidMap = [0, 1000, 65_536], gidMap = [0, 2000, 65_536]): TestOp =>
  intermediate("idmap.open", { uidMap, gidMap, slot: IDS });
const mapIds = (recursive = false): TestOp => intermediate("mount.idmap", { slot: MOUNT, userNamespace: IDS, recursive });
const attach = (args: object = {}): TestOp => init("mount.bind", { slot: MOUNT, target: "/mapped", create: 2, ...args });
const makeTmpfs = (args: object = {}): TestOp => intermediate("mount.make", { fstype: "tmpfs", source: "tmpfs", slot: MOUNT, ...args });

/** Pids of the processes that were started with this in their environment. */
function withEnvironment(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

describe.skipIf(!isRoot).each(VARIANTS)("id maps: %s", (name, options) => {
  const hasMaps = !name.includes("5.10") && !name.includes("newer calls");
  let root: string;
  let host: string;

  beforeEach(() => {
    root = makeRootfs();
    host = mkdtempSync(join(tmpdir(), "runt-host-"));
    chmodSync(host, 0o755);
    writeFileSync(join(host, "zero"), "");
    writeFileSync(join(host, "one"), "");
    chownSync(join(host, "one"), 1, 2);
  });
  afterEach(() => {
    for (const path of [root, host]) rmSync(path, { recursive: true, force: true });
  });

  const openHost = (): TestOp => intermediate("mount.open", { source: host, slot: MOUNT });
  const run = (intermediateOps: readonly TestOp[], mounts: readonly TestOp[], script = ":"): Outcome =>
    runPlan(container({ root, intermediate: intermediateOps, mounts: [PROC, ...mounts], script }), options);

  function lines(...parts: Parameters<typeof run>): string[] {
    const { stdout, stderr, error, status } = run(...parts);
    expect({ error, stderr, status }).toEqual({ error: undefined, stderr: "", status: 0 });
    return stdout.trim().split("\n");
  }

  test.runIf(hasMaps)("a bind shows the mapped ids, and nothing changes on the host", () => {
    const out = lines([openIds(), openHost(), mapIds()], [attach()], "stat -c '%u %g' /mapped /mapped/zero /mapped/one");
    expect(out).toEqual(["1000 2000", "1000 2000", "1001 2002"]);
    const { uid, gid } = statSync(join(host, "one"));
    expect([uid, gid]).toEqual([1, 2]);
  });

  test.runIf(hasMaps)("a filesystem is made, mapped, and takes data, flags and the mode of the directory it covers", () => {
    mkdirSync(join(root, "mapped"));
    chmodSync(join(root, "mapped"), 0o2751);
    const make = makeTmpfs({ data: ["size=64k"], attrSet: ATTR.nosuid });
    const out = lines(
      [openIds(), make, mapIds()],
      [attach({ create: 5 })],
      "stat -c '%u %g %a' /mapped; grep ' /mapped ' /proc/self/mountinfo",
    );
    expect(out[0]).toBe("1000 2000 2751");
    expect(out[1]).toMatch(/ rw,nosuid,relatime,idmapped .*size=64k/);
  });

  test.runIf(hasMaps)("only with recursive are the mounts below mapped too", () => {
    const tree = (recursive: boolean): string[] =>
      lines(
        [openIds()],
        [
          init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target: "/tree" }),
          init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target: "/tree/below" }),
          init("mount.open", { source: `${root}/tree`, recursive: true, slot: MOUNT }),
          init("mount.idmap", { slot: MOUNT, userNamespace: IDS, recursive }),
          attach(),
        ],
        "stat -c %u /mapped /mapped/below",
      );
    expect(tree(true)).toEqual(["1000", "1000"]);
    expect(tree(false)).toEqual(["1000", "0"]);
  });

  test("the process behind the user namespace is gone when the operation ends", () => {
    const mark = `RUNT_TEST_MARK=${process.pid}-${Math.random()}`;
    const [key = "", value = ""] = mark.split("=");
    const plan = container({ root, intermediate: [openIds(), openIds()], mounts: [PROC], script: ":" });
    expect(runPlan(plan, { ...options, env: { [key]: value } }).error).toBeUndefined();
    expect(withEnvironment(mark)).toEqual([]);
  });

  test.runIf(!hasMaps)("without mount_setattr a mapped mount is an error, never an unmapped one", () => {
    const { error, stdout } = run([openIds(), openHost(), mapIds()], [attach()], "echo ran");
    expect(error?.text).toMatch(/id-mapped mounts need Linux 5.12|no right to map ids/);
    expect(error?.path).toBe(host);
    expect(stdout).toBe("");
  });

  test.runIf(hasMaps)("a filesystem that knows no maps, one that is its own user namespace's, and maps the kernel refuses", () => {
    const sysfs = intermediate("mount.make", { fstype: "sysfs", source: "sysfs", slot: MOUNT });
    expect(run([openIds(), sysfs, mapIds()], [attach()]).error).toMatchObject({
      errno: 22,
      path: "sysfs",
      text: "mount_setattr: the filesystem cannot be id-mapped on this kernel",
    });
    const own = intermediate("file.open", { path: "/proc/self/ns/user", flags: 0, slot: IDS });
    expect(run([own, openHost(), mapIds()], [attach()]).error).toMatchObject({
      errno: 1,
      text: expect.stringContaining("no right to map ids"),
    });
    expect(run([openIds([0, 0, 10, 5, 5, 10])], []).error).toMatchObject({ errno: 22, path: "uid_map", text: "write of an id map" });
    const many = Array.from({ length: 340 }, (_, index) => [index * 10, 1_000_000_000 + index * 10, 10]).flat();
    expect(run([openIds([0, 0, 1], many)], []).error).toMatchObject({ errno: 7, path: "gid_map" });
  });

  test.runIf(hasMaps)("what cannot be attached by descriptor is not bound by its path instead", () => {
    const refuse = { errno: "EPERM" as const, calls: ["move_mount", ...(options.refuse?.calls ?? [])] };
    const plan = container({ root, intermediate: [openIds(), openHost(), mapIds()], mounts: [PROC, attach()], script: "echo ran" });
    // root.open has its own fallback.
    const { error, stdout } = runPlan(plan, { ...options, refuse });
    expect(error).toMatchObject({ errno: 1, path: "/mapped", text: "move_mount" });
    expect(stdout).toBe("");
  });
});
