/** Hybrid hosts: a container is in the v2 hierarchy, too, at the same path, with everything that runs in it. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hierarchyRoots, isHybrid, UNIFIED_BESIDE } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { isAlive } from "../support/witness.ts";

describe.skipIf(!isRoot || !isRunt || !isHybrid)("the v2 hierarchy of a hybrid host (needs root)", () => {
  const { bundle, id, ok, root, runtime, until } = useHarness();
  let place = "";
  let unified = "";
  let count = 0;
  beforeEach(() => {
    place = `${CGROUP_PARENT}/hybrid/${++count}`;
    unified = UNIFIED_BESIDE + place;
  });
  /** What a test has made itself. */
  let made: string[] = [];
  afterEach(() => {
    for (const path of made.reverse()) if (existsSync(path)) rmdirSync(path);
    made = [];
  });
  const make = (path: string) => {
    if (existsSync(path)) return;
    mkdirSync(path);
    made.push(path);
  };

  const prepared = (script = "exec sleep 1000", change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, script);
      config.linux.cgroupsPath = place;
      // So that /proc/self/cgroup has the whole path.
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      change(config);
    });
  const memberships = (pid: number | string) =>
    readFileSync(`/proc/${pid}/cgroup`, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.slice(line.indexOf(":", line.indexOf(":") + 1) + 1));
  const pidOf = async (name: string) => JSON.parse(await ok(["state", name])).pid as number;
  const left = () => hierarchyRoots.map((hierarchy) => hierarchy + CGROUP_PARENT).filter((path) => existsSync(path));

  test.each([
    ["create and start", "create", {}],
    ["run", "run", {}],
    ["a joined namespace", "run", { network: true }],
    ["a user namespace", "run", { user: true }],
    ["a cgroup namespace", "run", { cgroup: true }],
  ] as const)("%s: init, exec and what they start are there, and delete removes every level", async (_, verb, { ...what }) => {
    const name = id();
    const path = prepared("sleep 1001 & exec sleep 1000", (config) => {
      const { namespaces } = config.linux;
      const all = namespaces.filter(({ type }) => !("network" in what && type === "network"));
      if ("network" in what) all.push({ type: "network", path: "/proc/self/ns/net" });
      if ("cgroup" in what) all.push({ type: "cgroup" });
      if ("user" in what) {
        all.push({ type: "user" });
        config.linux.uidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
        config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      }
      config.linux.namespaces = all;
    });
    await ok(verb === "run" ? ["run", "--detach", "-b", path, name] : ["create", "-b", path, name]);
    const pid = await pidOf(name);
    // The kernel may have more hierarchies than are mounted here.
    expect(memberships(pid).filter((path) => path === place)).toHaveLength(hierarchyRoots.length);
    if (verb === "create") await ok(["start", name]);
    await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(2);
    await ok(["exec", "--detach", name, "sleep", "1002"]);
    const pids = JSON.parse(await ok(["ps", "-f", "json", name])) as number[];
    expect(pids).toHaveLength(3);
    for (const one of pids) expect(memberships(one).at(-1)).toBe(place);
    expect(JSON.parse(readFileSync(join(root, name, "state.json"), "utf8")).cgroup).toMatchObject({ version: 1, unified });
    await ok(["kill", "--all", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
    expect(left()).toEqual([]);
  });

  test("where another mount covers it, a container is in the hierarchies that are seen", async () => {
    const view = mkdtempSync(join(tmpdir(), "runt-test-view-"));
    const cover = `mount -t tmpfs view ${view} && for path in /sys/fs/cgroup/*; do
        name=$(basename $path); [ $name != unified ] && [ -d $path ] && [ ! -L $path ] || continue
        mkdir ${view}/$name && mount --bind $path ${view}/$name || exit 9
      done; mount --move ${view} /sys/fs/cgroup && exec "$@"`;
    const command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", cover, "sh", RUNTIME, "--root", root];
    const name = id();
    const args = [...command, "run", "-b", prepared("tail -n 1 /proc/self/cgroup"), name];
    const { status, stdout, stderr } = spawnSync(args[0]!, args.slice(1), { encoding: "utf8" });
    rmdirSync(view);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "0::/\n", stderr: "" });
    expect(left()).toEqual([]);
  });

  test("a foreground run removes it at the end", async () => {
    expect(await ok(["run", "-b", prepared("tail -n 1 /proc/self/cgroup"), id()])).toBe(`0::${place}\n`);
    expect(left()).toEqual([]);
  });

  test("exec --cgroup goes below where there is such a cgroup, and stays in the container's where there is none", async () => {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(), name]);
    mkdirSync(`${UNIFIED_BESIDE}${place}/sub`);
    mkdirSync(`/sys/fs/cgroup/pids${place}/sub`);
    const last = async (...flags: readonly string[]) => (await ok(["exec", ...flags, name, "tail", "-n", "1", "/proc/self/cgroup"])).trim();
    expect(await last("--cgroup", "pids:sub")).toBe(`0::${place}`);
    for (const hierarchy of hierarchyRoots) {
      const path = `${hierarchy}${place}/sub`;
      if (existsSync(path)) continue;
      mkdirSync(path);
      if (!existsSync(`${path}/cpuset.cpus`)) continue;
      for (const file of ["cpuset.cpus", "cpuset.mems"]) writeFileSync(join(path, file), readFileSync(join(path, "..", file)));
    }
    expect(await last("--cgroup", "sub")).toBe(`0::${place}/sub`);
    rmdirSync(`${UNIFIED_BESIDE}${place}/sub`);
    expect(await last("--cgroup", "sub")).toBe(`0::${place}`);
    await ok(["delete", "--force", name]);
    expect(left()).toEqual([]);
  });

  test("one that is gone: exec goes where init is", async () => {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(), name]);
    make(`${UNIFIED_BESIDE}${CGROUP_PARENT}/moved`);
    writeFileSync(`${UNIFIED_BESIDE}${CGROUP_PARENT}/moved/cgroup.procs`, String(await pidOf(name)));
    rmdirSync(unified);
    expect(await ok(["exec", name, "tail", "-n", "1", "/proc/self/cgroup"])).toBe(`0::${CGROUP_PARENT}/moved\n`);
    await ok(["delete", "--force", name]);
    expect(left()).toEqual([UNIFIED_BESIDE + CGROUP_PARENT]);
  });

  test("one with somebody else's process is refused, and he is left alone", async () => {
    make(UNIFIED_BESIDE + CGROUP_PARENT);
    make(`${UNIFIED_BESIDE}${CGROUP_PARENT}/hybrid`);
    make(unified);
    const other = spawn("sleep", ["1000"]);
    try {
      writeFileSync(`${unified}/cgroup.procs`, String(other.pid));
      const name = id();
      const { status, stderr } = await runtime(["create", "-b", prepared(), name]);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining("container's cgroup is not empty: 1 process(es) found"),
      });
      expect(existsSync(join(root, name))).toBe(false);
      expect(isAlive(other.pid!)).toBe(true);
    } finally {
      const ended = new Promise((done) => other.once("exit", done));
      other.kill("SIGKILL");
      await ended;
    }
  });

  test("a frozen one is refused: init could not begin in it", async () => {
    make(UNIFIED_BESIDE + CGROUP_PARENT);
    make(`${UNIFIED_BESIDE}${CGROUP_PARENT}/hybrid`);
    make(unified);
    writeFileSync(`${unified}/cgroup.freeze`, "1");
    const { status, stderr } = await runtime(["create", "-b", prepared(), id()]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("container's cgroup unexpectedly frozen") });
  });

  test("an empty one that was there is used, and stays", async () => {
    make(UNIFIED_BESIDE + CGROUP_PARENT);
    make(`${UNIFIED_BESIDE}${CGROUP_PARENT}/hybrid`);
    make(unified);
    const name = id();
    await ok(["run", "--detach", "-b", prepared(), name]);
    expect(memberships(await pidOf(name)).at(-1)).toBe(place);
    await ok(["delete", "--force", name]);
    expect(left()).toEqual([UNIFIED_BESIDE + CGROUP_PARENT]);
    expect(existsSync(unified)).toBe(true);
  });

  test("somebody else's process that was moved there is not killed", async () => {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(), name]);
    const pid = await pidOf(name);
    // The directory is made again by somebody else: it has no mark of the container's.
    make(`${UNIFIED_BESIDE}${CGROUP_PARENT}/other`);
    writeFileSync(`${UNIFIED_BESIDE}${CGROUP_PARENT}/other/cgroup.procs`, String(pid));
    rmdirSync(unified);
    make(unified);
    const other = spawn("sleep", ["1000"]);
    const ended = new Promise((done) => other.once("exit", done));
    try {
      writeFileSync(`${unified}/cgroup.procs`, String(other.pid));
      await runtime(["delete", "--force", name]);
      expect(isAlive(pid)).toBe(false);
      expect(isAlive(other.pid!)).toBe(true);
      expect(existsSync(unified)).toBe(true);
    } finally {
      other.kill("SIGKILL");
      await ended;
      await runtime(["delete", "--force", name]);
    }
  });

  test("gc finds it when the state is lost, also as the only directory that was made", async () => {
    const name = id();
    await ok(["run", "--detach", "-b", prepared(), name]);
    const pid = await pidOf(name);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    rmSync(join(root, name), { recursive: true });
    for (const hierarchy of hierarchyRoots) if (hierarchy !== UNIFIED_BESIDE) rmdirSync(hierarchy + place);
    const { objects } = JSON.parse(await ok(["gc", "--yes", "--format", "json"])) as {
      objects: { kind: string; id?: string; paths: string[] }[];
    };
    expect(objects.filter((one) => one.id === name)).toEqual([
      expect.objectContaining({ kind: "cgroup", paths: [unified], outcome: "removed" }),
    ]);
    expect(left()).toEqual([]);
  });

  test.each([
    ["read-only", "mount -o remount,bind,ro /sys/fs/cgroup/unified"],
    ["not mounted", "umount /sys/fs/cgroup/unified"],
  ])("%s: the container is where it was before, and everything works", (_, change) => {
    const name = id();
    const path = prepared();
    const call = (...args: readonly string[]) => `'${RUNTIME}' --root '${root}' ${args.join(" ")}`;
    const script = [
      "set -e",
      change,
      call("run", "--detach", "-b", `'${path}'`, name),
      call("exec", name, "cat", "/proc/self/cgroup"),
      call("delete", "--force", name),
    ].join("\n");
    const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "--propagation", "private", "sh", "-c", script], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => line.endsWith(`:${place}`))).toHaveLength(hierarchyRoots.length - 1);
    expect(lines.at(-1)).not.toContain(place);
    expect(left()).toEqual([]);
  });
});
