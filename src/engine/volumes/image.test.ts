/** Needs root and a loop device, to mount a file system from a file. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isMountPoint } from "../../node/index.ts";
import { mountImage, unmountImage } from "./index.ts";

const MIB = 1 << 20;
const canMount =
  process.geteuid?.() === 0 && existsSync("/dev/loop-control") && readFileSync("/proc/filesystems", "utf8").includes("\text4\n");

describe.skipIf(!canMount)("scratch volumes with a size (needs root, loop devices and ext4)", () => {
  let path = "";
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), "runt-image-")), "volume");
    mkdirSync(path);
  });
  afterEach(async () => {
    await unmountImage(path);
    rmSync(join(path, ".."), { recursive: true });
  });

  test("what is written is on the disk until its size is reached; then there is no space left, and with it goes all of it", async () => {
    await mountImage(path, 8 * MIB);
    await mountImage(path, 8 * MIB);
    expect(readdirSync(path)).toEqual([]);
    const { blocks, bsize } = statfsSync(path);
    expect(blocks * bsize).toBeLessThanOrEqual(8 * MIB);
    writeFileSync(join(path, "most"), Buffer.alloc(6 * MIB));
    expect(() => writeFileSync(join(path, "more"), Buffer.alloc(3 * MIB))).toThrow(/ENOSPC/);
    await unmountImage(path);
    await unmountImage(path);
    expect([isMountPoint(path), readdirSync(join(path, ".."))]).toEqual([false, ["volume"]]);
  });

  test("what somebody else has mounted in its place is not taken for it", async () => {
    execFileSync("mount", ["-t", "tmpfs", "theirs", path]);
    await expect(mountImage(path, 2 * MIB)).rejects.toThrow("and not this volume");
  });

  test("what a crash has left in its place is made anew", async () => {
    writeFileSync(join(path, "../.volume.image"), "half");
    await mountImage(path, 2 * MIB);
    expect(readdirSync(path)).toEqual([]);
  });
});
