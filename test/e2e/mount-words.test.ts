/** Words in mount options: crun's, mount(8)'s, the recursive ones, and flags that are locked. OPT-22 to OPT-65, MNT-12, MNT-13. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Config, Mount } from "../support/config.ts";
import { call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";

/** A user that this host does not have. */
const ID = 54_321;

describe.skipIf(!isRoot || !isRunt)("words of mount options (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const source = join(directory, "source");
  const state = join(directory, "rootless");

  beforeAll(() => {
    chmodSync(directory, 0o755);
    mkdirSync(join(source, "below"), { recursive: true });
    writeFileSync(join(source, "file"), "content\n");
    symlinkSync("file", join(source, "link"));
    symlinkSync("nowhere", join(source, "dangling"));
    mkdirSync(state);
    chownSync(state, ID, ID);
  });

  const ROOM: Mount = { destination: "/tmp", type: "tmpfs", source: "tmpfs" };
  const bind = (options: string[], from = source, destination = "/mnt"): Mount => ({
    destination,
    type: "none",
    source: from,
    options: ["bind", ...options],
  });
  const withMounts = (command: string, mounts: readonly Mount[], change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, command);
      config.mounts.push(...mounts);
      change(config);
    });
  const run = (command: string, ...mounts: Mount[]) => ok(["run", "-b", withMounts(command, mounts), id()]);
  const flags = (path: string) => `grep ' ${path} ' /proc/self/mountinfo | cut -d' ' -f6`;

  async function refusal(...mounts: Mount[]): Promise<string> {
    const name = id();
    const { status, stdout, stderr } = await runtime(["run", "-b", withMounts("echo ran", mounts), name]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(existsSync(join(root, name))).toBe(false);
    return stderr;
  }

  test("a destination that is the host path of a place in the root means that place", async () => {
    const path = withMounts(`${flags("/mnt")}; ls /tmp`, [ROOM]);
    const config = JSON.parse(readFileSync(join(path, "config.json"), "utf8")) as Config;
    const rootfs = resolve(path, config.root.path);
    config.mounts.push({ ...bind(["ro"]), destination: join(rootfs, "mnt") });
    config.mounts.push({ ...bind([]), destination: join(rootfs, "tmp/x"), source: join(rootfs, "tmp") });
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    const { status, stdout, stderr } = await runtime(["--log-level", "warning", "run", "-b", path, id()]);
    expect({ status, lines: stdout.split("\n") }).toEqual({ status: 0, lines: [expect.stringMatching(/^ro,/), "x", ""] });
    expect(stderr.match(/is a path of the host below the root/g)).toHaveLength(2);
    config.mounts.push({ ...bind([]), destination: join(rootfs, "proc/sys") });
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    expect((await runtime(["run", "-b", path, id()])).stderr).toContain("because it is inside /proc");
  });

  test("remount needs a mount, also when it changes nothing", async () => {
    expect(await refusal(ROOM, { destination: "/tmp/a", type: "tmpfs", options: ["remount"] })).toContain("mount target");
    expect(await refusal({ destination: "/bin", type: "tmpfs", options: ["remount"] })).toContain("nothing is mounted here");
    expect(await run("echo ran", ROOM, { destination: "/tmp", type: "tmpfs", options: ["remount"] })).toBe("ran\n");
  });

  test("a tmpfs that is read-only as a tree takes its mount points and copies first", async () => {
    const inner: Mount = { destination: "/tmp/inner", type: "tmpfs", source: "tmpfs" };
    const options = ["rro", "tmpcopyup"];
    const seen = await run(`${flags("/tmp")}; echo x > /tmp/x || cat /etc/hostname`, { ...ROOM, options: ["rro"] }, inner, {
      destination: "/etc",
      type: "tmpfs",
      source: "tmpfs",
      options,
    });
    expect(seen).toMatch(/^ro,relatime\n/);
  });

  describe("symlinks", () => {
    test("copy-symlink makes the same link; of anything else it is a bind", async () => {
      const mounts = [
        ROOM,
        bind(["copy-symlink"], join(source, "dangling"), "/tmp/a/link"),
        bind(["copy-symlink"], join(source, "file"), "/tmp/file"),
      ];
      expect(await run("readlink /tmp/a/link; cat /tmp/file", ...mounts)).toBe("nowhere\ncontent\n");
      const taken = await refusal(ROOM, bind([], join(source, "file"), "/tmp/x"), bind(["copy-symlink"], join(source, "link"), "/tmp/x"));
      expect(taken).toContain("/tmp/x");
      expect(taken).toContain("file exists");
    });

    test("src-nofollow binds the link itself", async () => {
      expect(await run("readlink /tmp/link", ROOM, bind(["src-nofollow"], join(source, "dangling"), "/tmp/link"))).toBe("nowhere\n");
      expect(await run("cat /tmp/link", ROOM, bind([], join(source, "link"), "/tmp/link"))).toBe("content\n");
    });

    test("dest-nofollow mounts on the link", async () => {
      const link = bind(["copy-symlink"], join(source, "dangling"), "/tmp/link");
      expect(await run("cat /tmp/link", ROOM, link, bind(["dest-nofollow"], join(source, "file"), "/tmp/link"))).toBe("content\n");
    });

    test("with a user namespace too, where intermediate opens the sources", async () => {
      const mounts = [
        ROOM,
        bind(["copy-symlink"], join(source, "dangling"), "/tmp/a"),
        bind(["src-nofollow"], join(source, "dangling"), "/tmp/b"),
      ];
      const path = withMounts("readlink /tmp/a; readlink /tmp/b", mounts, (config) => {
        config.linux.namespaces.push({ type: "user" });
        config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      });
      expect(await ok(["run", "-b", path, id()])).toBe("nowhere\nnowhere\n");
    });

    test.each([
      [["copy-symlink", "src-nofollow"], "mutually exclusive"],
      [["copy-symlink", "dest-nofollow"], "mutually exclusive"],
    ])("%s together are refused", async (words, expected) => {
      expect(await refusal(bind(words))).toContain(expected);
    });
  });

  describe("superblocks and data", () => {
    test.each([
      ["rsync", / rw,sync,/],
      ["rdirsync", / rw,dirsync,|dirsync/],
      ["rmand", / rw/],
      ["rnomand", / rw/],
      ["rasync", / rw/],
    ])("%s is no data of a tmpfs", async (word, expected) => {
      const tmpfs = { destination: "/mnt", type: "tmpfs", source: "tmpfs", options: [word, "size=64k"] };
      expect(await run("grep -o ' /mnt .*' /proc/self/mountinfo", tmpfs)).toMatch(expected);
    });

    test("words of mount(8): tools' words are left out with a warning, users' words protect", async () => {
      const name = id();
      const tmpfs = {
        destination: "/mnt",
        type: "tmpfs",
        source: "tmpfs",
        options: ["noauto", "x-systemd.automount", "comment=mine", "users", "exec"],
      };
      await ok(["run", "-d", "-b", withMounts("exec sleep 60", [tmpfs]), name]);
      expect(await ok(["exec", name, "/bin/sh", "-c", flags("/mnt")])).toBe("rw,nosuid,nodev,relatime\n");
      const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
      expect(warnings).toEqual(
        ["noauto", "x-systemd.automount", "comment=mine"].map((word) => `mount option "${word}" has no effect here`),
      );
    });

    test("unknown data and tmpcopyup elsewhere are errors", async () => {
      expect(await refusal({ destination: "/mnt", type: "tmpfs", source: "tmpfs", options: ["loop"] })).toContain(
        "Unknown parameter 'loop'",
      );
      expect(await refusal(bind(["tmpcopyup"]))).toContain("tmpcopyup is for tmpfs only");
    });
  });

  describe("the whole tree", () => {
    /** A bind of a tree with a tmpfs below, made with these flags in a mount namespace of the test. */
    async function tree(word: string, made: string): Promise<readonly string[]> {
      const path = withMounts(`${flags("/mnt")}; ${flags("/mnt/below")}`, [{ ...bind([]), options: ["rbind", word] }]);
      const script = `mount --make-rprivate / && mount -t tmpfs -o ${made} none ${join(source, "below")} && exec "$@"`;
      const result = await call(directory, ["unshare", "-m", "sh", "-c", script, "sh", RUNTIME, "--root", root, "run", "-b", path, id()]);
      expect(result).toMatchObject({ status: 0, stderr: "" });
      return result.stdout.trim().split("\n");
    }
    const ALL = "nosuid,nodev,noexec,noatime,nodiratime,nosymfollow,ro";

    test.each([
      ["rro", "ro,relatime", "ro,relatime"],
      ["rnosuid", "rw,nosuid,relatime", "rw,nosuid,relatime"],
      ["rnodev", "rw,nodev,relatime", "rw,nodev,relatime"],
      ["rnoexec", "rw,noexec,relatime", "rw,noexec,relatime"],
      ["rnodiratime", "rw,nodiratime,relatime", "rw,nodiratime,relatime"],
      ["rnosymfollow", "rw,relatime,nosymfollow", "rw,relatime,nosymfollow"],
      ["rnoatime", "rw,noatime", "rw,noatime"],
      ["rstrictatime", "rw", "rw"],
      ["nosuid", "rw,nosuid,relatime", "rw,relatime"],
    ])("%s sets", async (word, top, below) => {
      expect(await tree(word, "rw")).toEqual([top, below]);
    });

    test.each([
      ["rrw", "ro"],
      ["rsuid", "nosuid"],
      ["rdev", "nodev"],
      ["rexec", "noexec"],
      ["rdiratime", "nodiratime"],
      ["rsymfollow", "nosymfollow"],
    ])("%s clears", async (word, flag) => {
      const [, below = ""] = await tree(word, ALL);
      expect(below.split(",")).not.toContain(flag);
      // Only this one flag is touched.
      for (const other of ALL.split(",")) if (other !== flag) expect(below.split(",")).toContain(other);
    });

    test.each([
      ["ratime", "noatime"],
      ["rrelatime", "noatime"],
      ["rrelatime", "strictatime"],
      ["rnostrictatime", "strictatime"],
      ["rnorelatime", "noatime"],
    ])("%s leads from %s to relatime", async (word, made) => {
      expect(await tree(word, made)).toEqual(["rw,relatime", "rw,relatime"]);
    });
  });

  describe("locked flags, of mounts that come from a more privileged namespace", () => {
    /** A container of a caller without rights; its bind source is a tmpfs that the host has mounted with these flags. */
    function asUser(made: string, mounts: readonly Mount[], command = flags("/mnt")): Promise<Result> {
      const path = withMounts(command, mounts, (config) => {
        config.linux.namespaces.push({ type: "user" });
        config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: ID, size: 1 }];
        config.linux.cgroupsPath = "";
        config.linux.resources = {};
        config.process.rlimits = [];
        config.mounts = config.mounts.filter(({ type }) => type !== "cgroup");
        for (const mount of config.mounts) mount.options = (mount.options ?? []).filter((option) => !option.startsWith("gid="));
      });
      const below = join(source, "below");
      const script = `mount --make-rprivate / && mount -t tmpfs -o mode=777,${made} none ${below} && exec setpriv --reuid ${ID} --regid ${ID} --clear-groups "$@"`;
      return call(directory, ["unshare", "-m", "sh", "-c", script, "sh", RUNTIME, "--root", state, "run", "-b", path, id()]);
    }
    const below = (...options: string[]): Mount => bind(options, join(source, "below"));
    const LOCKED = "nosuid,nodev,noatime";

    test("are kept, alone and beside what is asked for", async () => {
      expect(await asUser(LOCKED, [below()])).toEqual({ status: 0, stdout: "rw,nosuid,nodev,noatime\n", stderr: "" });
      expect(await asUser(LOCKED, [below("ro", "noexec")])).toEqual({ status: 0, stdout: "ro,nosuid,nodev,noexec,noatime\n", stderr: "" });
      expect(await asUser(LOCKED, [below("noatime", "exec")])).toEqual({ status: 0, stdout: "rw,nosuid,nodev,noatime\n", stderr: "" });
      expect(await asUser(LOCKED, [{ ...below(), options: ["rbind", "rro"] }])).toMatchObject({ stdout: "ro,nosuid,nodev,noatime\n" });
    });

    test("are kept by a remount", async () => {
      const remount: Mount = { destination: "/mnt", options: ["remount", "bind", "ro"] };
      expect(await asUser(LOCKED, [below(), remount])).toEqual({ status: 0, stdout: "ro,nosuid,nodev,noatime\n", stderr: "" });
      const { status, stderr } = await asUser(LOCKED, [below(), { destination: "/mnt", options: ["remount", "bind", "dev"] }]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/error mounting: mount\.\w+ "\/mnt": cannot clear locked flags nodev/);
    });

    test.each([
      ["suid", "cannot clear locked flags nosuid"],
      ["dev", "cannot clear locked flags nodev"],
      ["relatime", "cannot change locked atime flags"],
      ["strictatime", "cannot change locked atime flags"],
      ["rsuid", "recursive mount attributes: cannot change locked flags"],
    ])("are not cleared by %s, which is an error", async (word, words) => {
      const { status, stdout, stderr } = await asUser(LOCKED, [below(word)]);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain(words);
      expect(stderr).toContain("(at /mounts/");
    });

    test("read-only is one of them", async () => {
      expect(await asUser("ro", [below()])).toMatchObject({ status: 0, stdout: "ro,relatime\n" });
      expect((await asUser("ro", [below("rw")])).stderr).toContain("cannot clear locked flags ro");
    });
  });
});
