/** Where bind sources are looked for, and when; mount points that are missing. MNT. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mountSources, unmountSources } from "../support/bind-flags.ts";
import type { Config, Mount } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { mapsTmpfs } from "../support/kernel.ts";

const MAP = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
const IDS = { uidMappings: MAP, gidMappings: MAP };
/** A tmpfs as it is, and with mapped ids where the kernel can. */
const OF_TMPFS = mapsTmpfs ? [{}, IDS] : [{}];
/** Only the owner may read it. */
const CLOSED = 0o750;

describe.skipIf(!isRoot || !isRunt)("sources of mounts (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs: sample, runtime } = useHarness();
  const rootfs = join(directory, "rootfs");
  const closed = join(directory, "closed");
  let sources: ReadonlyMap<string, string> = new Map();

  beforeAll(() => {
    chmodSync(directory, 0o755);
    for (const [top, sub] of ["ax", "by", "cz"]) {
      mkdirSync(join(closed, top!, sub!), { recursive: true });
      writeFileSync(join(closed, top!, sub!, "file"), `${top}/${sub}\n`);
      symlinkSync(top!, join(closed, `link-${top}`));
    }
    symlinkSync("a", join(closed, "link"));
    chmodSync(closed, CLOSED);
    sources = mountSources(directory, ["ro", "ro,nosuid,nodev", "rw"]);
  });
  afterAll(() => unmountSources(sources));
  beforeEach(() => {
    rmSync(rootfs, { recursive: true, force: true });
    execFileSync("cp", ["-ax", sample(), rootfs]);
    for (const name of ["mnt", "final"]) mkdirSync(join(rootfs, name), { recursive: true });
    execFileSync("chown", ["-hR", "100000:100000", rootfs]);
  });

  const inUserNamespace = (config: Config): void => {
    config.linux.namespaces.push({ type: "user" });
    Object.assign(config.linux, IDS);
    config.process.capabilities = { bounding: ["CAP_SYS_ADMIN"], effective: ["CAP_SYS_ADMIN"], permitted: ["CAP_SYS_ADMIN"] };
  };
  const withMounts = (command: string, mounts: readonly Mount[], change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      config.root = { path: rootfs };
      config.mounts.push(...mounts);
      shell(config, command);
      change(config);
    });
  const bind = (source: string, destination = "/mnt", options: string[] = ["bind"], more: Partial<Mount> = {}): Mount => ({
    ...{ destination, type: "bind", source, options },
    ...more,
  });

  /** A tree of binds of a directory that root of the user namespace cannot look into, and binds of parts of that tree. */
  const tree = (more: Partial<Mount>): Mount[] => [
    bind(join(closed, "a"), "/mnt"),
    bind(join(closed, "link-b"), "/mnt/x"),
    bind(join(closed, "c"), "/mnt/x/y"),
    bind(join(closed, "link-a"), "/mnt/x/y/z"),
    bind(join(rootfs, "mnt/x"), "/mnt/x/y/z/x", ["rbind"], more),
    bind(join(rootfs, "mnt/x/y"), "/mnt/x/y/z", ["rbind"], more),
    bind(join(rootfs, "mnt"), "/final", ["rbind"], more),
  ];

  describe.each<[string, (config: Config) => void]>([
    ["no user namespace", () => {}],
    ["a user namespace", inUserNamespace],
  ])("%s", (_, change) => {
    test.each<[string, Partial<Mount>]>([
      ["plain", {}],
      ["with mapped ids", IDS],
    ])("a source is what earlier mounts of the container made of it: %s", async (_how, more) => {
      const path = withMounts("cat /final/x/y/z/z/x/y/z/x/file", tree(more), change);
      expect(await ok(["run", "-b", path, id()])).toBe("a/x\n");
    });

    test("the directory of the bundle is a source", async () => {
      const path = withMounts("cat /mnt/config.json", [bind(".")], change);
      expect(await ok(["run", "-b", path, id()])).toBe(readFileSync(join(path, "config.json"), "utf8"));
    });

    test("a link that is itself the source is found behind a closed directory", async () => {
      const copied = bind(join(closed, "link"), "/mnt/copied", ["bind", "copy-symlink"]);
      const tmpfs = { destination: "/mnt", type: "tmpfs", source: "tmpfs" };
      expect(await ok(["run", "-b", withMounts("readlink /mnt/copied", [tmpfs, copied], change), id()])).toBe("a\n");
      const file = bind(join(closed, "a/x/file"), "/mnt/copied", ["bind", "copy-symlink"]);
      expect(await ok(["run", "-b", withMounts("cat /mnt/copied", [tmpfs, file], change), id()])).toBe("a/x\n");
    });

    test("a source that is missing is an error, and leaves nothing behind", async () => {
      const name = id();
      const path = withMounts("true", [bind(join(closed, "a")), bind(join(closed, "none"), "/final")], change);
      const { status, stderr } = await runtime(["run", "-b", path, name]);
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/none": open_tree: no such file or directory \(at /) });
      expect(existsSync(join(root, name))).toBe(false);
    });
  });

  test("root of a user namespace cannot take back the flags of the host's mount", async () => {
    const attack =
      "mount -o remount,bind,rw /mnt 2>/dev/null; mount -o remount,bind,suid,dev,ro /mnt 2>/dev/null; grep ' /mnt ' /proc/self/mountinfo";
    for (const more of OF_TMPFS) {
      const path = withMounts(
        `${attack} | cut -d' ' -f6`,
        [bind(sources.get("ro,nosuid,nodev")!, "/mnt", ["bind"], more)],
        inUserNamespace,
      );
      expect(await ok(["run", "-b", path, id()])).toMatch(/^ro,nosuid,nodev,relatime(?:,idmapped)?\n$/);
    }
  });

  test("a directory without what the host has mounted below it, where that has no flags to be locked", async () => {
    const above = (flags: string) => {
      const at = join(sources.get(flags)!, "sub");
      execFileSync("mount", ["-o", "remount,bind,rw", sources.get(flags)!]);
      mkdirSync(at, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "below", at]);
      execFileSync("mount", ["-o", `remount,bind,${flags}`, sources.get(flags)!]);
      return () => void execFileSync("umount", ["-l", at]);
    };
    const undo = ["rw", "ro"].map(above);
    try {
      const look = (flags: string) =>
        runtime(["run", "-b", withMounts("grep -c below /proc/self/mountinfo", [bind(sources.get(flags)!)], inUserNamespace), id()]);
      expect(await look("rw")).toMatchObject({ status: 1, stdout: "0\n", stderr: "" });
      const { status, stdout, stderr } = await look("ro");
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain("invalid argument");
    } finally {
      for (const one of undo) one();
    }
  });

  test.each([
    ["that runs", "a", 0],
    ["that fails", "none", 1],
  ])("nobody who has opened sources for a container %s is left, not even to be reaped", async (_, source, status) => {
    const path = withMounts("true", [bind(join(closed, source))], inUserNamespace);
    // The first process of a PID namespace inherits what is left, and ps reaps nothing.
    const script = '"$@" </dev/null 2>/dev/null; echo $?; exec ps -eo comm=,stat=';
    const command = [RUNTIME, "--root", root, "run", "-b", path, id()];
    const { stdout } = await call(directory, ["unshare", "-pfm", "--mount-proc", "sh", "-c", script, "sh", ...command]);
    expect(stdout).toMatch(new RegExp(`^${status}\\nps +R\\S*\\n$`));
  });

  test.each<[string, string[], string | undefined, string]>([
    ["is 1777 on a mount point that is missing", [], undefined, "1777"],
    ["also when it would copy what is not there", ["tmpcopyup"], undefined, "1777"],
    ["also when it is sealed later", ["ro"], undefined, "1777"],
    ["is that of the directory it covers", [], "710", "710"],
    ["also with a copy of it", ["tmpcopyup"], "710", "710"],
    ["is the option's, whatever is there", ["mode=1500"], "710", "1500"],
    ["is the option's on what is missing", ["mode=1500"], undefined, "1500"],
  ])("the mode of a tmpfs %s", async (_name, options, existing, expected) => {
    for (const change of [() => {}, inUserNamespace]) {
      for (const ids of OF_TMPFS) {
        rmSync(join(rootfs, "room"), { recursive: true, force: true });
        mkdirSync(join(rootfs, existing === undefined ? "room" : "room/a/b"), { recursive: true });
        if (existing !== undefined) execFileSync("chmod", [existing, join(rootfs, "room/a/b")]);
        execFileSync("chown", ["-R", "100000:100000", join(rootfs, "room")]);
        const tmpfs: Mount = { destination: "/room/a/b", type: "tmpfs", source: "tmpfs", options, ...ids };
        expect(await ok(["run", "-b", withMounts("stat -c %a /room/a/b", [tmpfs], change), id()])).toBe(`${expected}\n`);
        expect(statSync(join(rootfs, "room/a/b")).mode & 0o7777).toBe(existing === undefined ? 0o755 : Number.parseInt(existing, 8));
      }
    }
  });

  test("options of a filesystem on a bind are a warning that is kept", async () => {
    const name = id();
    await ok(["run", "-d", "-b", withMounts("exec sleep 60", [bind(closed, "/mnt", ["bind", "ro", "size=5k"])]), name]);
    const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
    expect(warnings).toEqual(['mount of "/mnt": options of a filesystem have no effect on a bind mount: "size=5k"']);
    expect(await ok(["exec", name, "/bin/sh", "-c", "grep ' /mnt ' /proc/self/mountinfo | cut -d' ' -f6"])).toMatch(/^ro/);
  });
});
