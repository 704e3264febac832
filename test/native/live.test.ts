/** mount.propagation and mount.detach: what `mounts` does to a container that runs. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { container, MS, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const SLOT = 5;
const [EINVAL, ELOOP, ENOSYS, EPERM] = [22, 40, 38, 1];

describe.skipIf(!isRoot).each(VARIANTS)("mounts of a running container: %s", (name, options) => {
  const hasNewCalls = !name.includes("newer calls") && !name.includes("mount_setattr");
  let root: string;
  let host: string;

  beforeEach(() => {
    root = makeRootfs();
    host = mkdtempSync(join(tmpdir(), "runt-host-"));
    writeFileSync(join(host, "file"), "content\n");
  });
  afterEach(() => {
    for (const path of [root, host]) rmSync(path, { recursive: true, force: true });
  });

  const open = (): TestOp => intermediate("mount.open", { source: host, slot: SLOT });
  const propagation = (flags: number): TestOp => intermediate("mount.propagation", { slot: SLOT, flags });
  const bind = init("mount.bind", { slot: SLOT, target: "/bound", create: 2 });
  const detach = (target: string): TestOp => init("mount.detach", { target });

  test.runIf(hasNewCalls)("a detached tree gets its propagation before it is seen", () => {
    const fields = "grep ' /bound ' /proc/self/mountinfo | grep -o 'shared:\\|master:' || echo none";
    const withFlags = (flags: number) =>
      runPlan(
        container({
          root,
          propagation: MS.shared | MS.rec,
          intermediate: [open(), propagation(flags)],
          mounts: [PROC, bind],
          script: fields,
        }),
        options,
      ).stdout;
    expect(withFlags(MS.private | MS.rec)).toBe("none\n");
    expect(withFlags(MS.shared | MS.rec)).toBe("shared:\n");
  });

  test.runIf(!hasNewCalls)("without the newer calls it is an error, and not a mount by a path that means something else inside", () => {
    const { error } = runPlan(container({ root, intermediate: [open(), propagation(MS.slave | MS.rec)], mounts: [PROC, bind] }), options);
    expect([ENOSYS, EPERM]).toContain(error?.errno);
    expect(error?.text).toContain("a mount for a running container needs it");
  });

  test("a link to copy has no propagation", () => {
    symlinkSync("nowhere", join(host, "link"));
    const link = intermediate("mount.openLink", { source: join(host, "link"), copy: true, slot: SLOT });
    const plan = container({ root, intermediate: [link, propagation(MS.slave)], mounts: [PROC, bind], script: "readlink /bound" });
    expect(runPlan(plan, options)).toMatchObject({ error: undefined, stdout: "nowhere\n" });
  });

  test("a mount goes, and what it covered is there again", () => {
    mkdirSync(join(root, "bound"));
    const plan = container({
      root,
      intermediate: [open()],
      mounts: [PROC, bind, detach("/bound")],
      script: "ls /bound; grep -c ' /bound ' /proc/self/mountinfo",
    });
    expect(runPlan(plan, options)).toMatchObject({ error: undefined, stdout: "0\n" });
  });

  test.each([
    ["a directory that is none", "/plain", EINVAL, "not a mount that can be removed"],
    ["the root", "/", EINVAL, "not a mount that can be removed"],
    ["the root by dots", "/plain/..", EINVAL, "not a mount that can be removed"],
    ["one behind a link", "/link/bound", ELOOP, "open of the mount"],
  ])("%s is refused", (_, target, errno, text) => {
    mkdirSync(join(root, "plain"));
    symlinkSync("/", join(root, "link"));
    const plan = container({ root, intermediate: [open()], mounts: [PROC, bind, detach(target)] });
    expect(runPlan(plan, options).error).toMatchObject({ errno, path: target, text });
  });
});
