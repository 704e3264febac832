/** mount.cgroup: a mount of its own, or what stands in for it in a user namespace that may not make one. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MESSAGES } from "../../src/shared/protocol/index.ts";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { ATTR, CLONE_NEW, container, NAMESPACES, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

describe.skipIf(!isRoot).each(VARIANTS)("cgroup2 mounts: %s", (_, options) => {
  let root: string;
  beforeEach(() => {
    root = makeRootfs();
    mkdirSync(join(root, "sys/fs/cgroup"), { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function mounted(mount: TestOp, user: boolean, cgroup: boolean): string {
    const plan = container({
      root,
      intermediate: [intermediate("mount.open", { source: "/etc", slot: 5 })],
      namespaces: NAMESPACES | (user ? CLONE_NEW.user : 0),
      first: [
        ...(cgroup ? [init("namespace.unshare", { flags: CLONE_NEW.cgroup })] : []),
        ...(user ? [init("sync.wait", { message: MESSAGES.go }), init("process.becomeRoot")] : []),
      ],
      mounts: [PROC, mount],
      script: "grep ' /sys/fs/cgroup ' /proc/self/mountinfo",
    });
    const { error, stdout } = runPlan(plan, { ...options, driver: user ? ["--go", "--map"] : [] });
    expect(error).toBeUndefined();
    return stdout;
  }
  const mount = (slot?: number) =>
    init("mount.cgroup", { target: "/sys/fs/cgroup", attrSet: ATTR.readonly | ATTR.nosuid, ...(slot !== undefined && { slot }) });

  test.each([false, true])("of its own (new cgroup namespace: %s), with a slot that is not needed", (cgroup) => {
    expect(mounted(mount(5), false, cgroup)).toMatch(/ \S+ \/sys\/fs\/cgroup ro,nosuid,relatime .*- cgroup2 cgroup rw/);
  });

  test("in a user namespace that does not own the cgroup namespace the directory is bound", () => {
    expect(mounted(mount(5), true, false)).toMatch(/ \S*\/etc \/sys\/fs\/cgroup ro,nosuid,relatime /);
  });

  test("and without a directory nothing is shown", () => {
    expect(mounted(mount(), true, false)).toMatch(/ \/ \/sys\/fs\/cgroup ro,nosuid,relatime .*- tmpfs tmpfs r[ow]/);
  });
});
