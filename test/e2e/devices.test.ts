/** linux.devices and what is below /dev. DEV-01 to DEV-14. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("devices (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime } = useHarness();
  const ROOM = { destination: "/opt", type: "tmpfs", source: "tmpfs" };
  let count = 0;

  /** A root file system that may be written, of this owner. */
  function ownRootfs(owner = 0): string {
    const path = join(directory, `rootfs-${++count}`);
    execFileSync("cp", ["-ax", rootfs(), path]);
    execFileSync("mkdir", ["-p", join(path, "opt")]);
    execFileSync("chown", ["-hR", `${owner}:${owner}`, path]);
    return path;
  }
  const withDevices = (devices: readonly object[], command: string, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      config.root = { path: ownRootfs() };
      config.linux.devices = devices;
      shell(config, command);
      change(config);
    });
  const userNamespace = (config: Config): void => {
    config.root = { path: ownRootfs(100_000) };
    config.linux.namespaces.push({ type: "user" });
    config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
  };
  const run = async (path: string) => (await ok(["run", "-b", path, id()])).trim().split("\n");
  const STAT = "stat -c '%n %F %t:%T %a %u %g'";

  const NODES = [
    { path: "/dev/char", type: "c", major: 10, minor: 229, fileMode: 0o4640, uid: 12, gid: 13 },
    { path: "/opt/dev/unbuffered", type: "u", major: 1, minor: 3 },
    { path: "/dev/block", type: "b", major: 259, minor: 70_000, fileMode: 0o100600, uid: 7, gid: 8 },
    { path: "/dev/pipe", type: "p", major: 3, minor: 4, fileMode: 0o622, uid: 1, gid: 2 },
  ];
  const EXPECTED = [
    "/dev/char character special file a:e5 4640 12 13",
    "/opt/dev/unbuffered character special file 1:3 666 0 0",
    "/dev/block block special file 103:11170 600 7 8",
    "/dev/pipe fifo 0:0 622 1 2",
  ];
  const LIST = `${STAT} ${NODES.map(({ path }) => path).join(" ")}`;

  test("nodes of every type with owner, mode and set-id bits, whatever the umask; parents are made", async () => {
    expect(await run(withDevices(NODES, LIST))).toEqual(EXPECTED);
    const strict = withDevices(NODES, LIST);
    const { stdout } = await call(directory, [
      "sh",
      "-c",
      'umask 077; exec "$@"',
      "sh",
      RUNTIME,
      "--root",
      root,
      "run",
      "-b",
      strict,
      id(),
    ]);
    expect(stdout.trim().split("\n")).toEqual(EXPECTED);
  });

  test("the same with a user namespace: ids are the container's", async () => {
    expect(await run(withDevices(NODES, LIST, userNamespace))).toEqual(EXPECTED);
  });

  test("a node of a user namespace works, and one of an id that is not mapped is refused", async () => {
    const device = { path: "/opt/null", type: "c", major: 1, minor: 3, uid: 5, gid: 5, fileMode: 0o666 };
    expect(await run(withDevices([device], "wc -c </opt/null && echo x >/opt/null && echo written", userNamespace))).toEqual([
      "0",
      "written",
    ]);
    const { status, stderr } = await runtime(["run", "-b", withDevices([{ ...device, uid: 70_000 }], "true", userNamespace), id()]);
    expect(status).toBe(1);
    expect(stderr).toContain("id 70000 is not mapped in the container (at /linux/devices/0/uid)");
  });

  const DEFAULTS = ["null 1:3", "zero 1:5", "full 1:7", "random 1:8", "urandom 1:9", "tty 5:0"];
  test.each([
    ["without", () => {}],
    ["with", userNamespace],
  ] as const)("the default nodes and links are there, %s a user namespace", async (_, change) => {
    const nodes = DEFAULTS.map((line) => line.split(" ")[0]).join(" /dev/");
    const out = await run(
      withDevices(
        [],
        `stat -c '%n %t:%T %a' /dev/${nodes}; for link in ptmx fd stdin stdout stderr core; do readlink /dev/$link; done`,
        change,
      ),
    );
    expect(out).toEqual([
      ...DEFAULTS.map((line) => `/dev/${line} 666`),
      ...["pts/ptmx", "/proc/self/fd", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2", "/proc/kcore"],
    ]);
  });

  test("a node of the host that a user namespace has is nosuid and noexec", async () => {
    const device = { path: "/dev/fuse", type: "c", major: 10, minor: 229 };
    const paths = ["/dev/fuse", ...DEFAULTS.map((line) => `/dev/${line.split(" ")[0]}`)];
    const out = await run(withDevices([device], "cut -d' ' -f5,6 /proc/self/mountinfo", userNamespace));
    const flags = new Map(out.map((line) => line.split(" ") as [string, string]));
    for (const path of paths) expect([path, flags.get(path)?.split(",").slice(0, 3)]).toEqual([path, ["rw", "nosuid", "noexec"]]);
  });

  test.each([
    ["without", () => {}],
    ["with", userNamespace],
  ] as const)("a mount stands in the place of a default node or link, %s a user namespace", async (_, change) => {
    const mounts = ["/dev/null", "/dev/stdin"].map((destination) => ({
      destination,
      type: "bind",
      source: "/etc/hostname",
      options: ["bind"],
    }));
    const edit = (config: Config) => {
      change(config);
      config.mounts.push(...mounts);
    };
    expect(await run(withDevices([], "stat -c %F /dev/null /dev/stdin; readlink /dev/stdout", edit))).toEqual([
      "regular file",
      "regular file",
      "/proc/self/fd/1",
    ]);
    // A later mount on /dev hides it.
    const hidden = (config: Config) => {
      edit(config);
      config.mounts.push({ destination: "/dev", type: "tmpfs", source: "tmpfs" });
    };
    expect(await run(withDevices([], "stat -c %F /dev/null; readlink /dev/stdin", hidden))).toEqual([
      "character special file",
      "/proc/self/fd/0",
    ]);
  });

  test("something else at the path is an error, the same node is kept", async () => {
    const device = { path: "/opt/taken", type: "c", major: 1, minor: 3 };
    const taken = withDevices([device], "echo ran", (config) => writeFileSync(join(config.root.path, "opt/taken"), "kept"));
    const name = id();
    const { status, stdout, stderr } = await runtime(["run", "-b", taken, name]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain('"/opt/taken": something else is at the path of a device');
    expect(existsSync(join(root, name))).toBe(false);
    for (const [number, words] of [
      ["3", "1:3"],
      ["5", undefined],
    ] as const) {
      const path = withDevices([device], `${STAT} /opt/taken`, (config) => {
        execFileSync("mknod", [join(config.root.path, "opt/taken"), "c", "1", number]);
      });
      const result = await runtime(["run", "-b", path, id()]);
      if (words) expect(result.stdout).toContain(words);
      else expect(result.stderr).toContain("something else is at the path of a device");
    }
  });

  test("a device again is a warning, and of the same path the last one wins", async () => {
    const name = id();
    const devices = [
      { path: "/dev/one", type: "c", major: 10, minor: 229 },
      { path: "/dev/./two", type: "u", major: 10, minor: 229 },
      { path: "/dev/two", type: "c", major: 10, minor: 200 },
    ];
    await ok(["run", "-d", "-b", withDevices(devices, "exec sleep 60"), name]);
    expect(await ok(["exec", name, "stat", "-c", "%t:%T", "/dev/two"])).toBe("a:c8\n");
    const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
    expect(warnings).toEqual([expect.stringContaining('is the same device as "/dev/one"'), expect.stringContaining("the last one wins")]);
  });

  test.each(["/dev", "/dev/.", "dev/"])(
    "a bind on %s is left as it is, and devices that are not made are a warning",
    async (destination) => {
      const name = id();
      const path = withDevices([{ path: "/dev/more", type: "c", major: 10, minor: 229 }], "exec sleep 60", (config) => {
        config.mounts = config.mounts.filter((mount) => !mount.destination.startsWith("/dev"));
        config.mounts.push({ destination, type: "bind", source: "/dev", options: ["bind"] });
      });
      await ok(["run", "-d", "-b", path, name]);
      expect(await ok(["exec", name, "/bin/sh", "-c", "ls /dev/more 2>&1; true"])).toContain("No such file");
      const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
      expect(warnings).toContain("linux.devices: no nodes are made, because /dev is a bind mount");
      expect(existsSync("/dev/more")).toBe(false);
    },
  );

  test.each([
    ["type", { path: "/dev/x", type: "f", major: 1, minor: 1 }, "(c, b, u or p)"],
    ["no number", { path: "/dev/x", type: "c", major: 1 }, "needs minor (at /linux/devices/0/minor)"],
    ["relative", { path: "x", type: "c", major: 1, minor: 1 }, "not an absolute path (at /linux/devices/0/path)"],
  ])("%s: refused", async (_, device, words) => {
    const { status, stderr } = await runtime(["run", "-b", withDevices([device], "true"), id()]);
    expect(status).toBe(1);
    expect(stderr).toContain(words);
  });

  test("a FIFO that the room of the container holds", async () => {
    const path = withDevices([{ path: "/opt/p", type: "p" }], `${STAT} /opt/p`, (config) => void config.mounts.push(ROOM));
    expect(await run(path)).toEqual(["/opt/p fifo 0:0 666 0 0"]);
  });
});
