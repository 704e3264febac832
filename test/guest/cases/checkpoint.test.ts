/** checkpoint and restore with a real criu: a container that goes on where it was. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import type { Config } from "../../support/config.ts";
import { criuMissing } from "../../support/criu.ts";
import { shell, useHarness } from "../../support/harness.ts";
import { program, sharedRootfs } from "../../support/programs.ts";
import { systemdRuns } from "../../support/systemd.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;
const MEMORY = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const TIMEOUT = 240_000;
/** Tells its count and keeps it in memory alone. criu does not mind when a file that is open for appending has grown. */
const COUNTER = "n=0; while :; do n=$((n+1)); echo $n >>/data/count; usleep 20000; done";
/** A count that one that began again has not. */
const FLOOR = 5;
const hasCriu = existsSync("/usr/sbin/criu") || criuMissing() === undefined;

describe.skipIf(!hasCriu)("checkpoint and restore (needs criu)", { timeout: TIMEOUT }, () => {
  const { bundle, directory, id, ok, runtime } = useHarness();
  let endings: (() => void)[] = [];
  let made = 0;

  afterEach(() => {
    for (const end of endings.reverse()) end();
    endings = [];
  });

  function prepared(change: (config: Config) => void = () => {}, command = COUNTER): { path: string; data: string } {
    const data = join(directory, `data-${++made}`);
    mkdirSync(data);
    const path = bundle((config) => {
      shell(config, command);
      config.mounts.push({ destination: "/data", type: "bind", source: data, options: ["rbind", "rw"] });
      config.linux.resources = { memory: { limit: 64 * MIB } };
      change(config);
    });
    return { path, data };
  }

  const images = () => join(directory, `images-${++made}`);
  const counts = (data: string) =>
    existsSync(join(data, "count")) ? readFileSync(join(data, "count"), "utf8").trim().split("\n").map(Number) : [];
  const count = (data: string) => counts(data).at(-1) ?? 0;
  const passes = (data: string, least: number) => expect.poll(() => count(data), { timeout: 30_000 }).toBeGreaterThan(least);
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  async function counting(globals: readonly string[] = [], change?: (config: Config) => void) {
    const name = id();
    const { path, data } = prepared(change);
    await ok([...globals, "run", "-d", "-b", path, name]);
    await passes(data, FLOOR);
    return { name, path, data };
  }

  /** The count of a dumped container stands still; that of a restored one goes on from there and not from 1. */
  async function goesOn(name: string, path: string, data: string, image: string, globals: readonly string[] = []): Promise<number> {
    const before = counts(data);
    await sleep(300);
    expect(counts(data)).toEqual(before);
    const pidFile = join(directory, `${name}.pid`);
    await ok([...globals, "restore", "-d", "--pid-file", pidFile, "--image-path", image, "-b", path, name]);
    await expect.poll(() => counts(data).length, { timeout: 30_000 }).toBeGreaterThan(before.length);
    const next = counts(data)[before.length]!;
    expect(next).toBeGreaterThan(FLOOR);
    expect(next).toBeLessThanOrEqual(before.at(-1)! + 1);
    const { pid, status } = await stateOf(name);
    expect(status).toBe("running");
    expect(readFileSync(pidFile, "utf8")).toBe(String(pid));
    return pid;
  }

  test("a counter ends with its checkpoint and goes on with its restore", async () => {
    const { name, path, data } = await counting();
    const image = images();
    const cgroup = cgroupOf((await stateOf(name)).pid, "memory");
    expect(await runtime(["checkpoint", "--image-path", image, name])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
    expect(existsSync(cgroup)).toBe(false);
    const pid = await goesOn(name, path, data, image);
    expect(cgroupOf(pid, "memory")).toBe(cgroup);
    expect(readLimit(pid, MEMORY)).toBe(String(64 * MIB));
    expect(await ok(["exec", name, "cat", "/proc/1/comm"])).toBe("sh\n");
    await ok(["pause", name]);
    expect((await stateOf(name)).status).toBe("paused");
    await ok(["resume", name]);
    await ok(["kill", name, "KILL"]);
    await expect.poll(async () => (await stateOf(name)).status, { timeout: 20_000 }).toBe("stopped");
    await ok(["delete", name]);
    expect(existsSync(cgroup)).toBe(false);
  });

  test("a restored container can be checkpointed and restored again", async () => {
    const { name, path, data } = await counting();
    for (const image of [images(), images()]) {
      await ok(["checkpoint", "--image-path", image, "--work-path", join(image, "work"), name]);
      expect(existsSync(join(image, "work", "dump.log"))).toBe(true);
      await goesOn(name, path, data, image);
    }
  });

  test("--leave-running: it goes on, and its image makes a second one after its end", async () => {
    const { name, path, data } = await counting();
    const image = images();
    await ok(["checkpoint", "--leave-running", "--image-path", image, name]);
    await passes(data, count(data));
    await ok(["delete", "--force", name]);
    await goesOn(name, path, data, image);
  });

  test("a paused container, as containerd has it, stays paused", async () => {
    const { name, data } = await counting();
    await ok(["pause", name]);
    await ok(["checkpoint", "--leave-running", "--image-path", images(), name]);
    expect((await stateOf(name)).status).toBe("paused");
    await ok(["resume", name]);
    await passes(data, count(data));
  });

  test("--pre-dump and --parent-path", async () => {
    const { name, path, data } = await counting();
    const [first, second] = [join(directory, "parents/1"), join(directory, "parents/2")];
    await ok(["checkpoint", "--pre-dump", "--image-path", first, name]);
    await passes(data, count(data));
    await ok(["checkpoint", "--parent-path", "../1", "--image-path", second, name]);
    expect(readlinkSync(join(second, "parent"))).toBe("../1");
    await goesOn(name, path, data, second);
  });

  test("what the bundle asks for is there again: binds, masks, read-only paths, filter, id of the host's name", async () => {
    const { name, path, data } = await counting([], (config) => {
      config.hostname = "saved";
      config.linux.maskedPaths = ["/proc/kcore", "/proc/keys", "/proc/acpi", "/sys/firmware"];
      config.linux.readonlyPaths = ["/proc/sys", "/proc/bus"];
      config.linux.seccomp = {
        defaultAction: "SCMP_ACT_ALLOW",
        architectures: ["SCMP_ARCH_X86_64"],
        syscalls: [{ names: ["mkdirat", "mkdir"], action: "SCMP_ACT_ERRNO" }],
      };
    });
    const image = images();
    const look = (what: string) => runtime(["exec", name, "sh", "-c", what]);
    const QUESTIONS = [
      "hostname; wc -c </proc/kcore; ls /proc/acpi | wc -l",
      "touch /proc/sys/kernel/hostname",
      "ls /data",
      "mkdir /run/x /tmp/x",
    ];
    const answers = async () => {
      const all = [];
      for (const question of QUESTIONS) all.push(await look(question));
      return all;
    };
    const before = await answers();
    const filter = async () => /Seccomp:\t(\d)/.exec(readFileSync(`/proc/${(await stateOf(name)).pid}/status`, "utf8"))?.[1];
    expect(await filter()).toBe("2");
    await ok(["checkpoint", "--image-path", image, name]);
    await goesOn(name, path, data, image);
    expect(await answers()).toEqual(before);
    expect(await filter()).toBe("2");
  });

  test("namespaces of others are joined again, and a TCP connection lives on", async () => {
    const netns = `runt-cr-${process.pid}`;
    await run("ip", ["netns", "add", netns]);
    endings.push(() => spawn("ip", ["netns", "del", netns]));
    await run("ip", ["-n", netns, "link", "set", "lo", "up"]);
    const keeper = spawn("unshare", ["-u", "-i", "sh", "-c", "hostname shared; exec sleep 1000"], { stdio: "ignore" });
    endings.push(() => keeper.kill("SIGKILL"));
    await expect
      .poll(() => readlinkSync(`/proc/${keeper.pid}/ns/uts`) !== readlinkSync("/proc/self/ns/uts"), { timeout: 20_000 })
      .toBe(true);
    const places: Record<string, string> = {
      network: `/run/netns/${netns}`,
      uts: `/proc/${keeper.pid}/ns/uts`,
      ipc: `/proc/${keeper.pid}/ns/ipc`,
    };
    const name = id();
    const { path } = prepared((config) => {
      delete config.hostname;
      config.linux.namespaces = config.linux.namespaces.map(({ type }) => ({ type, ...(places[type] ? { path: places[type] } : {}) }));
    }, "exec nc -l -p 4321 -e cat");
    await ok(["run", "-d", "-b", path, name]);
    // The client: lines in, lines out, in the same network namespace.
    const client = spawn("ip", ["netns", "exec", netns, "busybox", "nc", "127.0.0.1", "4321"], { stdio: ["pipe", "pipe", "inherit"] });
    endings.push(() => client.kill("SIGKILL"));
    let said = "";
    client.stdout.on("data", (data) => {
      said += data;
    });
    await sleep(3_000);
    client.stdin.write("before\n");
    await expect.poll(() => said, { timeout: 20_000 }).toBe("before\n");
    const image = images();
    const refused = await runtime(["checkpoint", "--image-path", image, name]);
    expect(refused.stderr).toMatch(/criu failed: type DUMP errno \d+: .*dump\.log/);
    expect((await stateOf(name)).status).toBe("running");
    await ok(["checkpoint", "--tcp-established", "--image-path", image, name]);
    client.stdin.write("meanwhile\n");
    await ok(["restore", "-d", "--tcp-established", "--image-path", image, "-b", path, name]);
    // Sent into the void, it is sent again after ever longer pauses.
    await expect.poll(() => said, { timeout: 90_000 }).toBe("before\nmeanwhile\n");
    const { pid } = await stateOf(name);
    for (const [type, place] of [
      ["net", places.network],
      ["uts", places.uts],
      ["ipc", places.ipc],
    ] as const) {
      const wanted = type === "net" ? (await run("stat", ["-Lc", "%i", place!])).stdout.trim() : /\d+/.exec(readlinkSync(place!))?.[0];
      expect([type, /\d+/.exec(readlinkSync(`/proc/${pid}/ns/${type}`))?.[0]]).toEqual([type, wanted]);
    }
  });

  test("a terminal: its new master side goes to the console socket", async () => {
    const consoles: { socket: string; out: string }[] = [];
    const listen = async () => {
      const [socket, out] = [join(directory, `console-${++made}`), join(directory, `console-${made}.out`)];
      const receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", openSync(out, "w"), "inherit"] });
      endings.push(() => receiver.kill("SIGKILL"));
      await expect.poll(() => readFileSync(out, "utf8"), { timeout: 20_000 }).toContain("listening");
      consoles.push({ socket, out });
      return { socket, out };
    };
    const name = id();
    const { path } = prepared((config) => {
      config.process.terminal = true;
    }, "n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.1; done");
    const first = await listen();
    await ok(["run", "-d", "--console-socket", first.socket, "-b", path, name]);
    await expect.poll(() => readFileSync(first.out, "utf8"), { timeout: 30_000 }).toMatch(/tick 5\b/);
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    const last = Math.max(...[...readFileSync(first.out, "utf8").matchAll(/tick (\d+)/g)].map((match) => Number(match[1])));
    const second = await listen();
    await ok(["restore", "-d", "--console-socket", second.socket, "--image-path", image, "-b", path, name]);
    await expect.poll(() => readFileSync(second.out, "utf8"), { timeout: 30_000 }).toContain(`tick ${last + 3}`);
    expect(readFileSync(second.out, "utf8")).toContain("terminal=yes");
    expect(readFileSync(second.out, "utf8")).not.toMatch(/tick 1\r/);
  });

  test("in the foreground: streams, signals and status are the container's", async () => {
    const name = id();
    const { path } = prepared(() => {}, "trap 'echo told; exit 7' TERM; while :; do usleep 20000; done");
    await ok(["run", "-d", "-b", path, name]);
    await sleep(2_000);
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    let monitor: number | undefined;
    const ended = runtime(["restore", "--image-path", image, "-b", path, name], { started: (child) => (monitor = child.pid) });
    await expect.poll(async () => (await runtime(["state", name])).stdout, { timeout: 60_000 }).toContain('"running"');
    await sleep(1_000);
    process.kill(monitor!, "SIGTERM");
    expect(await ended).toEqual({ status: 7, stdout: "told\n", stderr: "" });
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
  });

  test("hooks that prepare namespaces run before the processes do", async () => {
    const { name, path, data } = await counting();
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    const log = join(directory, "hooks.log");
    const file = join(path, "config.json");
    const config = JSON.parse(readFileSync(file, "utf8"));
    const hook = (kind: string) => [{ path: "/bin/sh", args: ["sh", "-c", `echo ${kind} $(grep -o '"pid": *[0-9]*') >>${log}`] }];
    config.hooks = { prestart: hook("prestart"), createRuntime: hook("createRuntime"), poststop: hook("poststop") };
    writeFileSync(file, JSON.stringify(config));
    const pid = await goesOn(name, path, data, image);
    const lines = () =>
      readFileSync(log, "utf8")
        .replaceAll(/"pid": */g, "")
        .trim()
        .split("\n");
    expect(lines()).toEqual([`prestart ${pid}`, `createRuntime ${pid}`]);
    await ok(["delete", "--force", name]);
    expect(lines()[2]).toMatch(/^poststop/);
  });

  test("a restore that fails leaves nothing", async () => {
    const { name, path } = await counting();
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    const file = join(path, "config.json");
    const config: Config = JSON.parse(readFileSync(file, "utf8"));
    config.mounts = config.mounts.filter(({ destination }) => destination !== "/data");
    writeFileSync(file, JSON.stringify(config));
    const failed = await runtime(["restore", "-d", "--image-path", image, "-b", path, name]);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/^runt: criu failed: type RESTORE errno \d+: .*restore\.log\n$/);
    expect((await runtime(["state", name])).stderr).toContain("container does not exist");
  });

  test("a link of the image does not make criu bind a directory that the bundle does not name (CVE-2026-119614)", async () => {
    const secret = join(directory, `secret-${++made}`);
    const rootfs = join(directory, `rootfs-${made}`);
    await run("cp", ["-a", sharedRootfs(), rootfs]);
    const volume = join(directory, `volume-${made}`);
    const [, top = "", ...below] = volume.split("/");
    const reached = join(secret, ...below);
    mkdirSync(reached, { recursive: true });
    // What criu takes for the source of /data: a path in the volume, in which the container has made a link.
    mkdirSync(join(volume, "l]:"), { recursive: true });
    symlinkSync(secret, join(volume, "l]:", top));
    const split = `/data]:${volume}/l`;
    mkdirSync(join(rootfs, split), { recursive: true });
    symlinkSync(split, join(rootfs, "b"));
    const name = id();
    const { path, data } = prepared((config) => {
      config.root.path = rootfs;
      config.mounts.unshift({ destination: "/b", type: "bind", source: volume, options: ["bind"] });
    });
    await ok(["run", "-d", "-b", path, name]);
    await passes(data, FLOOR);
    const image = images();
    const { status, stderr } = await runtime(["checkpoint", "--image-path", image, name]);
    if (status === 0) {
      await runtime(["restore", "-d", "--image-path", image, "-b", path, name]);
      await sleep(1_000);
    }
    expect(existsSync(join(reached, "count"))).toBe(false);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`criu cannot keep the mount point ${JSON.stringify(split)}`)]);
    await passes(data, count(data));
  });

  test.skipIf(!systemdRuns)("the unit of systemd is made again with its limits", async () => {
    const systemd = ["--systemd-cgroup"];
    const unit = `t${process.pid}-cr.scope`;
    const { name, path, data } = await counting(systemd, (config) => {
      config.linux.cgroupsPath = `system.slice:t${process.pid}:cr`;
    });
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    const pid = await goesOn(name, path, data, image, systemd);
    expect(cgroupOf(pid, "memory")).toMatch(new RegExp(`/system.slice/${unit}$`));
    expect(readLimit(pid, MEMORY)).toBe(String(64 * MIB));
  });

  test.skipIf(!isUnified)("without a cgroup namespace", async () => {
    const { name, path, data } = await counting([], (config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
      config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro"] });
    });
    const image = images();
    await ok(["checkpoint", "--image-path", image, name]);
    await goesOn(name, path, data, image);
  });
});
