/** Mounts need root. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canBeDeaf, DEAF_S, mountDeaf } from "../../test/support/deaf-mount.ts";
import { isMountPoint, mountAt, mountsBelow, mountsIn, unmount, unmountBelow, unmountMsOf } from "./mounts.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-mounts-"));
});
afterEach(async () => {
  await unmountBelow(directory);
  rmSync(directory, { recursive: true });
});

test("an unmount has the time to write, but where a server may not answer", () => {
  expect(["ext4", "tmpfs", "overlay", "nfs4", "fuse.sshfs", "cifs"].map(unmountMsOf)).toEqual([
    ...[120_000, 120_000, 120_000],
    ...[10_000, 10_000, 10_000],
  ]);
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
    await unmountBelow(directory);
    expect(mountsBelow(directory)).toEqual([]);
  });

  test.skipIf(!canBeDeaf)(
    "one whose server does not answer goes at once, also a bind mount of it, and nothing else waits meanwhile",
    async () => {
      const [deaf, bound, shown] = ["deaf", "bound", "other/shown"].map((name) => join(directory, name)) as [string, string, string];
      for (const path of [deaf, bound, shown]) mkdirSync(path, { recursive: true });
      await mountDeaf(deaf);
      for (const path of [bound, shown]) execFileSync("mount", ["--internal-only", "--no-canonicalize", "--bind", deaf, path]);
      const before = performance.now();
      await unmount(bound);
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      await unmountBelow(directory);
      clearInterval(timer);
      expect(mountsBelow(directory)).toEqual([]);
      expect(turns).toBeGreaterThan(0);
      expect(performance.now() - before).toBeLessThan((DEAF_S * 1000) / 2);
    },
  );

  test("a link is no mount point, and a directory on the way may be one", () => {
    const path = mounted("real");
    symlinkSync(path, join(directory, "link"));
    mkdirSync(join(directory, "real/below"));
    execFileSync("mount", ["-t", "tmpfs", "none", join(directory, "real/below")]);
    expect([isMountPoint(join(directory, "link")), isMountPoint(join(directory, "link/below"))]).toEqual([false, true]);
    expect(isMountPoint(join(directory, "none/there"))).toBe(false);
  });
});
