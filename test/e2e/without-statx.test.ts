/** Where a filter around runt refuses statx(2), mounts are told apart by procfs. */
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const REFUSE = join(REPOSITORY, "build/test/refuse");
const OLD = ["fsopen", "fsmount", "open_tree", "move_mount", "mount_setattr"];

describe.skipIf(!isRoot || !isRunt)("without statx (needs root)", () => {
  const { bundle, directory, id, root, rootfs } = useHarness();
  const run = (path: string, error: string, calls: readonly string[]) =>
    call(directory, [REFUSE, error, calls.join(","), RUNTIME, "--root", root, "run", "-b", path, id()]);

  test.each([
    ["ENOSYS", []],
    ["EPERM", []],
    ["ENOSYS", OLD],
    ["EPERM", OLD],
  ])("%s, and so from %j: a container runs", async (error, more) => {
    const path = bundle((config) => {
      shell(config, "echo ran; cat /opt/passwd | head -c 4");
      config.mounts.push({ destination: "/opt", type: "bind", source: "/etc", options: ["bind", "ro"] });
      config.linux.readonlyPaths = ["/proc/sys"];
      config.linux.maskedPaths = ["/proc/kcore"];
    });
    const { status, stdout, stderr } = await run(path, error, ["statx", ...more]);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "ran\nroot", stderr: "" });
  });

  test("a mount that a link leads onto the root itself is still refused", async () => {
    const copy = join(directory, "rootfs-with-link");
    execFileSync("cp", ["-ax", rootfs(), copy]);
    symlinkSync("/", join(copy, "top"));
    const path = bundle((config) => {
      config.root = { path: copy };
      shell(config, "echo ran");
      config.mounts.push({ destination: "/top", type: "bind", source: "/etc", options: ["bind"] });
    });
    const { status, stderr } = await run(path, "ENOSYS", ["statx"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("mount target is the root itself")]);
  });
});
