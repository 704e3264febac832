/** Mounts need root. */
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isMountPoint, unmountBelow } from "../../node/index.ts";
import { identityOf, mountFilesystem, resolved, tableLine, unmountFilesystem } from "./filesystem.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-filesystem-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await unmountBelow(directory);
  rmSync(directory, { recursive: true });
});

const asFile = async (text: Uint8Array, action: (descriptor: number) => Promise<unknown>) => {
  const path = join(directory, "table");
  writeFileSync(path, text, { mode: 0o600 });
  const descriptor = openSync(path, "r");
  try {
    return await action(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Source: moby, volume/local/local_linux_test.go, TestGetMountOptions. */
test.each([
  [
    { type: "nfs", device: ":/x", options: "addr=192.0.2.5,soft" },
    { device: ":/x", options: "addr=192.0.2.5,soft" },
  ],
  [
    { type: "nfs", device: ":/x", options: "soft,addr=localhost" },
    { device: ":/x", options: "soft,addr=127.0.0.1" },
  ],
  [
    { type: "nfs4", device: "localhost:/x" },
    { device: "localhost:/x", options: "addr=127.0.0.1" },
  ],
  [
    { type: "nfs", device: "[2001:db8::5]:/x", options: "ro" },
    { device: "[2001:db8::5]:/x", options: "ro,addr=2001:db8::5" },
  ],
  [
    { type: "cifs", device: "//localhost/a b/c", options: "username=u" },
    { device: "//127.0.0.1/a b/c", options: "username=u" },
  ],
  [
    { type: "cifs", device: "//nas/a", options: "addr=localhost" },
    { device: "//nas/a", options: "addr=127.0.0.1" },
  ],
  [
    { type: "ext4", device: "localhost:/x", options: "addr=localhost" },
    { device: "localhost:/x", options: "addr=localhost" },
  ],
])("%j", async (given, expected) => expect(await resolved(given)).toEqual({ type: given.type, ...expected }));

test("a server that is not named, or has no address, is an error", async () => {
  await expect(resolved({ type: "nfs", device: "/srv" })).rejects.toThrow("nfs: no server is named: write addr=SERVER in its options");
  await expect(resolved({ type: "nfs", device: ":/srv", options: "addr=nas.invalid" })).rejects.toThrow(
    "the server nas.invalid has no address",
  );
});

test("what fstab(5) divides words by is written in octal digits", () => {
  expect(tableLine("/a b", { type: "cifs", device: "//n/#x y", options: "password=a\\b\t" })).toBe(
    "//n/\\043x\\040y /a\\040b cifs password=a\\134b\\011 0 0\n",
  );
  expect(tableLine("/a", { type: "ext4", device: "/dev/x", options: "" })).toBe("/dev/x /a ext4 defaults 0 0\n");
});

describe.skipIf(process.geteuid?.() !== 0)("mounts (needs root)", () => {
  const path = () => join(directory, "volume");
  const image = () => {
    const file = join(directory, "image with space");
    writeFileSync(file, "");
    execFileSync("truncate", ["--size", "4M", file]);
    execFileSync("mke2fs", ["-q", "-F", "-t", "ext4", file], { env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` } });
    return { type: "ext4", device: file, options: "noatime" };
  };

  test("it is mounted once with its options, has the identity of what is mounted, and goes with the directory", async () => {
    const filesystem = image();
    await mountFilesystem(path(), filesystem, { asFile });
    await mountFilesystem(path(), filesystem, { asFile });
    const lines = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${path()} `));
    expect(lines).toEqual([expect.stringMatching(/ rw,noatime (?:.* )?- ext4 \/dev\/loop\d+ /)]);
    expect((await identityOf(path(), AbortSignal.timeout(10_000))).inode).toBe(2n);
    await unmountFilesystem(path(), filesystem);
    await unmountFilesystem(path(), filesystem);
    expect([isMountPoint(path()), existsSync(path())]).toEqual([false, false]);
    await expect(identityOf(path(), AbortSignal.timeout(10_000))).rejects.toThrow("nothing is mounted");
  });

  test("what others have mounted there is neither used nor unmounted", async () => {
    mkdirSync(path());
    execFileSync("mount", ["-t", "tmpfs", "others", path()]);
    const told = `a file system of others is mounted at ${path()}, and not this volume`;
    await expect(mountFilesystem(path(), image(), { asFile })).rejects.toThrow(told);
    await expect(unmountFilesystem(path(), { type: "ext4", device: "/dev/x" })).rejects.toThrow(told);
    expect(isMountPoint(path())).toBe(true);
  });

  test("a kernel without the file system names the package, and a refused one has no password in its message", async () => {
    const given = { type: "nofs", device: ":/x", options: "password=hidden-word" };
    await expect(mountFilesystem(path(), given, { asFile })).rejects.toThrow(
      /^:\/x: the kernel has no file system nofs: its module is in the package linux-image-/,
    );
    await expect(mountFilesystem(path(), { ...given, type: "ext4", device: "/dev/null" }, { asFile })).rejects.toThrow(
      /^\/dev\/null \(ext4\): (?!.*hidden-word)/s,
    );
  });

  test("a server that does not answer ends by its time", async () => {
    const programs = join(directory, "programs");
    mkdirSync(programs);
    writeFileSync(join(programs, "mount"), "#!/bin/sh\nsleep 1000\n");
    chmodSync(join(programs, "mount"), 0o755);
    vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
    const given = { type: "nfs", device: ":/x", options: "addr=127.0.0.1" };
    await expect(mountFilesystem(path(), given, { asFile, timeoutMs: 300 })).rejects.toThrow(":/x (nfs): mount has not ended within 0.3 s");
  });
});
