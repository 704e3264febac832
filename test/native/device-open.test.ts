/** Device nodes for user namespaces: made by the intermediate with the rights of the host. */
import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { hostMounts } from "../support/host-mounts.ts";
import { init, intermediate } from "../support/pack.ts";
import { container, PROC, S_IFCHR } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

describe.skipIf(!isRoot).each(VARIANTS)("device.open: %s", (name, options) => {
  const hasCalls = !name.includes("newer calls");
  let root: string;

  beforeEach(() => {
    root = makeRootfs();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (args: object, script: string) => {
    const open = intermediate("device.open", {
      path: "/dev/null",
      type: S_IFCHR,
      major: 1,
      minor: 3,
      mode: 0o640,
      uid: 12,
      gid: 13,
      slot: 5,
      ...args,
    });
    const bind = init("mount.bind", { slot: 5, target: "/made/node", create: 1 });
    const verify = init("device.create", { path: "/made/node", type: S_IFCHR, major: 1, minor: 3 });
    return runPlan(container({ root, intermediate: [open], mounts: [PROC, bind, verify], script }), options);
  };

  test("a node of its own, with owner and mode; nothing of it stays on the host", () => {
    const before = hostMounts(root);
    const { stdout, error, warnings } = run({}, "stat -c '%F %t:%T %a %u:%g' /made/node; cat /made/node | wc -c");
    expect(error).toBeUndefined();
    const [node, read] = stdout.trim().split("\n");
    expect(read).toBe("0");
    if (hasCalls) expect(node).toBe("character special file 1:3 640 12:13");
    else expect(node).toMatch(/^character special file 1:3 /);
    const words = ["a device of a user namespace is the host's own, with its owner and mode"];
    expect(warnings.map(({ text }) => text)).toEqual(hasCalls ? [] : words);
    expect(hostMounts(root)).toEqual(before);
  });

  test("another node than the one that is wanted is found out", () => {
    const { stdout, error } = run({ path: "/dev/zero", minor: 5 }, "echo ran");
    expect(stdout).toBe("");
    expect(error).toMatchObject({ errno: 17, path: "/made/node", text: "something else is at the path of a device" });
  });

  test.runIf(hasCalls)("large numbers and set-id bits", () => {
    const open = intermediate("device.open", { path: "/x", type: S_IFCHR, major: 259, minor: 70_000, mode: 0o4600, slot: 5 });
    const bind = init("mount.bind", { slot: 5, target: "/node", create: 1 });
    const plan = container({ root, intermediate: [open], mounts: [PROC, bind], script: "stat -c '%t:%T %a' /node" });
    expect(runPlan(plan, options)).toMatchObject({ error: undefined, stdout: "103:11170 4600\n" });
  });
});
