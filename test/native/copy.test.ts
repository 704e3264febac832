/** tmpcopyup: what a tmpfs covers is copied into it. */
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init } from "../support/pack.ts";
import { container, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const SLOT = 5;
const copyUp = (path: string, data: readonly string[] = []) => [
  init("directory.open", { path, slot: SLOT }),
  init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target: path, data, inheritMode: true }),
  init("directory.copy", { slot: SLOT, path }),
];

describe.skipIf(!isRoot).each(VARIANTS)("copy: %s", (_, options) => {
  let root: string;

  beforeEach(() => {
    root = makeRootfs();
    mkdirSync(join(root, "data/sub/deep"), { recursive: true });
    writeFileSync(join(root, "data/sub/deep/file"), "content\n");
    writeFileSync(join(root, "data/tool"), "x");
    chownSync(join(root, "data/tool"), 1000, 1001);
    chmodSync(join(root, "data/tool"), 0o4751);
    chmodSync(join(root, "data/sub"), 0o2770);
    symlinkSync("/etc/shadow", join(root, "data/link"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (mounts: Parameters<typeof container>[0]["mounts"], script: string) =>
    runPlan(container({ root, mounts: [PROC, ...(mounts ?? [])], script }), options);

  test("files, directories and links, with owner and mode", () => {
    const script =
      "cat /data/sub/deep/file; readlink /data/link; stat -c '%a %u %g' /data/tool /data/sub; grep -c ' /data tmpfs ' /proc/mounts";
    const { stdout, stderr, error } = run(copyUp("/data"), script);
    expect({ error, stderr }).toEqual({ error: undefined, stderr: "" });
    expect(stdout.trim().split("\n")).toEqual(["content", "/etc/shadow", "4751 1000 1001", "2770 0 0", "1"]);
  });

  test("a missing directory is an empty tmpfs", () => {
    const { stdout, error } = run(copyUp("/nothing"), "ls -A /nothing | wc -l");
    expect(error).toBeUndefined();
    expect(stdout.trim()).toBe("0");
  });

  test("what does not fit is an error", () => {
    writeFileSync(join(root, "data/large"), Buffer.alloc(200_000));
    const { error } = run(copyUp("/data", ["size=64k"]), ":");
    expect(error).toMatchObject({ text: "copy into the tmpfs", path: "/data", errno: 28 });
  });

  test("a tree deeper than any should be is an error", () => {
    mkdirSync(join(root, "data", ...Array.from({ length: 150 }, () => "d")), { recursive: true });
    const { error } = run(copyUp("/data"), ":");
    expect(error).toMatchObject({ text: "copy into the tmpfs", errno: 40 });
  });
});
