/** checkpoint and restore with a real criu: what ties a container to its host. Namespaces of others, connections, terminals, streams, hooks, the unit of systemd. */
import { execFile, spawn } from "node:child_process";
import { openSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { cgroupOf, isUnified, readLimit } from "../../support/cgroups.ts";
import { CRIU_TIMEOUT, hasCriu, MEMORY, MIB, useCounters } from "../../support/counters.ts";
import { useHarness } from "../../support/harness.ts";
import { program } from "../../support/programs.ts";
import { systemdRuns } from "../../support/systemd.ts";

const run = promisify(execFile);

describe.skipIf(!hasCriu)("checkpoint and restore, tied to the host (needs criu)", { timeout: CRIU_TIMEOUT }, () => {
  const harness = useHarness();
  const { directory, id, ok, runtime } = harness;
  const { atEnd, counting, fresh, goesOn, images, prepared, stateOf } = useCounters(harness);

  test("namespaces of others are joined again, and a TCP connection lives on", async () => {
    const netns = `runt-cr-${process.pid}`;
    await run("ip", ["netns", "add", netns]);
    atEnd(() => spawn("ip", ["netns", "del", netns]));
    await run("ip", ["-n", netns, "link", "set", "lo", "up"]);
    const keeper = spawn("unshare", ["-u", "-i", "sh", "-c", "hostname shared; exec sleep 1000"], { stdio: "ignore" });
    atEnd(() => keeper.kill("SIGKILL"));
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
    atEnd(() => client.kill("SIGKILL"));
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
      const socket = fresh("console");
      const out = `${socket}.out`;
      const receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", openSync(out, "w"), "inherit"] });
      atEnd(() => receiver.kill("SIGKILL"));
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
