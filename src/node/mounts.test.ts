/** Mounts need root. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isMountPoint, mountAt, mountsBelow, mountsIn, unmount, unmountBelow } from "./mounts.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-mounts-"));
});
afterEach(() => {
  unmountBelow(directory);
  rmSync(directory, { recursive: true });
});

describe.skipIf(process.geteuid?.() !== 0)("mounts (needs root)", () => {
  const mounted = (name: string, source = "none") => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", source, path]);
    return path;
  };

  test.each(["with space", "with\ttab", "with\nnewline", "with\\backslash", "with\\040digits"])(
    "a place %j is found by its name",
    async (name) => {
      const path = mounted(name, "of somebody");
      expect([isMountPoint(path), mountsIn(path), mountsBelow(directory)]).toEqual([true, [path], [path]]);
      expect(mountAt(path)).toMatchObject({ point: path, type: "tmpfs", source: "of somebody" });
      await unmount(path);
      expect([isMountPoint(path), mountAt(path)]).toEqual([false, undefined]);
    },
  );

  test("of two at one place the upper one is told, and both go; the deepest goes first", async () => {
    for (const source of ["lower", "upper"]) mounted("both", source);
    expect(mountAt(join(directory, "both"))?.source).toBe("upper");
    await unmount(join(directory, "both"));
    expect(mountsBelow(directory)).toEqual([]);
    for (const name of ["a", "a/b", "a/b/c"]) mounted(name);
    unmountBelow(directory);
    expect(mountsBelow(directory)).toEqual([]);
  });

  test("a link is no mount point, and a directory on the way may be one", () => {
    const path = mounted("real");
    symlinkSync(path, join(directory, "link"));
    mkdirSync(join(directory, "real/below"));
    execFileSync("mount", ["-t", "tmpfs", "none", join(directory, "real/below")]);
    expect([isMountPoint(join(directory, "link")), isMountPoint(join(directory, "link/below"))]).toEqual([false, true]);
    expect(isMountPoint(join(directory, "none/there"))).toBe(false);
  });
});
