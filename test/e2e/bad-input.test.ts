/** Bad input: one clear line, the right exit status, nothing left behind. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("bad input (needs root, and is about runt's own words)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();

  /** One line that matches, nothing on stdout, nothing in the state root. */
  async function refused(args: readonly string[], status: number, message: RegExp): Promise<void> {
    const before = existsSync(root) ? readdirSync(root) : [];
    const result = await runtime(args);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(result).toMatchObject({ status, stdout: "" });
    expect(existsSync(root) ? readdirSync(root) : []).toEqual(before);
  }

  /** The same for create and run of a bundle. */
  async function bundleRefused(path: string, message: RegExp): Promise<void> {
    for (const verb of ["create", "run"]) await refused([verb, "-b", path, id()], 1, message);
  }

  function rewritten(change: (text: string) => string): string {
    const path = bundle();
    const file = join(path, "config.json");
    writeFileSync(file, change(readFileSync(file, "utf8")));
    return path;
  }

  test("a bundle that is not there", () => bundleRefused(join(directory, "absent"), /absent.*no such file or directory/));

  test("no config.json", async () => {
    const path = bundle();
    rmSync(join(path, "config.json"));
    await bundleRefused(path, /config\.json.*no such file or directory/);
  });

  test("a broken config.json is shown by line and column", () =>
    bundleRefused(
      rewritten((text) => text.replace('"ociVersion":', '"ociVersion"')),
      /config\.json:2:\d+/,
    ));

  test("an empty config.json", () =>
    bundleRefused(
      rewritten(() => ""),
      /config\.json/,
    ));

  test("a config.json that is null", () =>
    bundleRefused(
      rewritten(() => "null"),
      /config/,
    ));

  const types: readonly (readonly [string, (config: Config) => void, string])[] = [
    ["args is a string", (config) => Object.assign(config.process, { args: "sh" }), "/process/args"],
    ["uid is a text", (config) => Object.assign(config.process.user, { uid: "0" }), "/process/user/uid"],
    ["a mount without destination", (config) => config.mounts.push({} as never), "/mounts/6"],
    ["a namespace is a number", (config) => config.linux.namespaces.push(5 as never), "/linux/namespaces/6"],
    [
      "memory limit is a text",
      (config) => Object.assign(config.linux.resources, { memory: { limit: "64M" } }),
      "/linux/resources/memory/limit",
    ],
  ];
  test.each(types)("wrong type: %s", (_, change, pointer) => bundleRefused(bundle(change), new RegExp(pointer)));

  const values: readonly (readonly [string, (config: Config) => void, RegExp])[] = [
    ["an unknown namespace", (config) => config.linux.namespaces.push({ type: "planet" }), /planet/],
    ["a namespace twice", (config) => config.linux.namespaces.push({ type: "pid" }), /namespaces.*pid|pid.*namespace/],
    [
      "a namespace path that is absent",
      (config) => config.linux.namespaces.push({ type: "time", path: "/proc/1/ns/absent" }),
      /\/proc\/1\/ns\/absent/,
    ],
    ["a root file system that is absent", (config) => Object.assign(config.root, { path: "absent" }), /absent/],
    ["a relative cwd", (config) => Object.assign(config.process, { cwd: "relative" }), /cwd/],
    ["no arguments", (config) => Object.assign(config.process, { args: [] }), /args/],
    [
      "an unknown mount option of a bind",
      (config) => config.mounts.push({ destination: "/x", type: "bind", source: "/nonexistent-source", options: ["bind"] }),
      /nonexistent-source/,
    ],
    ["an unknown rlimit", (config) => config.process.rlimits.push({ type: "RLIMIT_PLANETS", soft: 1, hard: 1 }), /RLIMIT_PLANETS/],
    [
      "a sysctl that is not namespaced",
      (config) => Object.assign(config.linux, { sysctl: { "vm.swappiness": "1" } }),
      /vm[./]swappiness.*is not in a separate kernel namespace/,
    ],
    ["the root cgroup", (config) => Object.assign(config.linux, { cgroupsPath: "/.." }), /cgroupsPath/],
    [
      "swap below memory",
      (config) => Object.assign(config.linux.resources, { memory: { limit: 20_000_000, swap: 10_000_000 } }),
      /memory\+swap limit should be >= memory limit/,
    ],
    [
      "id maps without a user namespace",
      (config) => Object.assign(config.linux, { uidMappings: [{ containerID: 0, hostID: 0, size: 1 }] }),
      /user namespace|uidMappings/,
    ],
  ];
  test.each(values)("%s", (_, change, message) => bundleRefused(bundle(change), message));

  test("a program that is not there, by name and by path", async () => {
    const byName = bundle((config) => Object.assign(config.process, { args: ["absent-program"] }));
    await bundleRefused(byName, /exec: "absent-program": executable file not found in \$PATH/);
    const byPath = bundle((config) => Object.assign(config.process, { args: ["/absent/program"] }));
    await bundleRefused(byPath, /"\/absent\/program".*no such file or directory/);
  });

  test("a program that cannot be executed", async () => {
    await bundleRefused(
      bundle((config) => Object.assign(config.process, { args: ["/etc/passwd"] })),
      /"\/etc\/passwd".*permission denied/,
    );
    await bundleRefused(
      bundle((config) => Object.assign(config.process, { args: ["/etc"] })),
      /"\/etc".*(permission denied|is a directory)/,
    );
  });

  test.each(["", ".", "..", "a/b", "a b", "ü", "../x"])("the id %j", async (name) => {
    await refused(["create", "-b", bundle(), name], 1, /invalid container ID format|container id cannot be empty/);
  });

  test("an id in use", async () => {
    const name = id();
    const path = bundle();
    await ok(["create", "-b", path, name]);
    await refused(["create", "-b", path, name], 1, /container with given ID already exists/);
  });

  test.each([["state"], ["start"], ["kill"], ["delete"]])("%s of an unknown id", async (verb) => {
    await refused([verb, "nobody"], 1, /does not exist/);
  });

  test.each([
    [["frobnicate"], 3, /frobnicate/],
    [["create", "--frobnicate", "x"], 1, /flag provided but not defined: -+frobnicate|unknown (flag|option).*frobnicate/],
    [["--frobnicate", "list"], 1, /frobnicate/],
    [["create"], 1, /create.*requires/],
    [["state", "a", "b"], 1, /state.*requires/],
    [["list", "--format", "xml"], 1, /invalid format|xml/],
    [["create", "--preserve-fds", "many", "x"], 1, /preserve-fds/],
    [["--log-format", "xml", "list"], 1, /invalid log-format|xml/],
  ] as const)("the command line %j", async (args, status, message) => {
    await refused(args, status, message);
  });

  test("a state directory that cannot be written", async () => {
    const file = join(directory, "a-file");
    writeFileSync(file, "");
    const result = await runtime(["--root", join(file, "below"), "create", "-b", bundle(), "x"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/a-file.*not a directory/);
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a failure in the middle leaves no pid file, no cgroup and no state", async () => {
    const pidFile = join(directory, "pid-of-nobody");
    const path = bundle((config) => config.mounts.push({ destination: "/proc/nothing", type: "tmpfs", source: "tmpfs" }));
    const result = await runtime(["create", "-b", path, "--pid-file", pidFile, id()]);
    expect(result.status).toBe(1);
    expect(existsSync(pidFile)).toBe(false);
    expect(readdirSync(root)).toEqual([]);
  });

  test("a cgroup in which somebody lives is refused, and they are left alone", async () => {
    const name = id();
    const change = (config: Config) => Object.assign(config.linux, { cgroupsPath: `${config.linux.cgroupsPath}-shared` });
    const path = bundle(change);
    await ok(["create", "-b", path, name]);
    await refused(["create", "-b", path, id()], 1, /container's cgroup is not empty: 1 process\(es\) found/);
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
  });

  test("hostile root file systems: links in the place of /proc and /dev go nowhere", async () => {
    const victim = join(directory, "victim");
    mkdirSync(victim);
    for (const place of ["proc", "dev"]) {
      const rootfs = join(directory, `rootfs-${place}`);
      mkdirSync(rootfs);
      symlinkSync(victim, join(rootfs, place));
      for (const name of ["proc", "dev", "sys", "bin"]) if (name !== place) mkdirSync(join(rootfs, name));
      await runtime(["create", "-b", bundle((config) => Object.assign(config.root, { path: rootfs, readonly: false })), id()]);
      expect(readdirSync(victim)).toEqual([]);
    }
  });
});
