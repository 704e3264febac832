/** The monitor of a container that is gone does nothing to a later one of the same id. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { ON_TERMINAL } from "../support/on-terminal.ts";

interface State {
  readonly pid: number;
  readonly status: string;
}

/** Holds the lock of a directory. */
const HOLD =
  "import fcntl, os, sys, time; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); print('held', flush=True); time.sleep(1000)";

describe.skipIf(!isRoot || !isRunt)("an old monitor (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** In the foreground: its process is the monitor's. */
  function foreground(args: readonly string[], stdout: "ignore" | "pipe" | number = "ignore", onTerminal = false) {
    const words = [...(onTerminal ? ON_TERMINAL : []), RUNTIME, "--root", root, "run", ...args];
    const child = spawn(words[0]!, words.slice(1), { stdio: ["ignore", stdout, "pipe"] });
    children.push(child);
    let stderr = "";
    child.stderr!.on("data", (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    const ended = new Promise<{ status: number | null; stderr: string }>((resolve) => {
      child.on("close", (status) => resolve({ status, stderr }));
    });
    return { child, pid: child.pid!, ended };
  }

  const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const stateOf = (pid: number) => /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  const isMonitor = (pid: number) => expect.poll(() => commandOf(pid)[1]).toBe("monitor");

  async function stop(pid: number): Promise<void> {
    await isMonitor(pid);
    process.kill(pid, "SIGSTOP");
    await expect.poll(() => stateOf(pid)).toBe("T");
  }

  /** Another container of this id, in the same cgroup. Returns what says whether it is untouched. */
  async function again(name: string, path: string, flags: readonly string[] = []): Promise<() => Promise<void>> {
    await ok(["run", "-d", ...flags, "-b", path, name]);
    const before = JSON.parse(await ok(["state", name])) as State;
    const files = readdirSync(join(root, name)).sort();
    expect(before.status).toBe("running");
    return async () => {
      expect(JSON.parse((await runtime(["state", name])).stdout || "{}")).toMatchObject({ pid: before.pid, status: "running" });
      expect(readdirSync(join(root, name)).sort()).toEqual(files);
      expect(await ok(["exec", name, "echo", "here"])).toBe("here\n");
    };
  }

  const sleeps = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "exec sleep 1000");
      change(config);
    });
  const poststop = (log: string) => (config: Config) =>
    Object.assign(config, { hooks: { poststop: [{ path: "/bin/sh", args: ["sh", "-c", `echo hook >> ${log}`] }] } });

  test.each([
    ["that removes the container itself", [], false],
    ["that leaves it to delete, for poststop hooks", [], true],
    ["with --keep", ["--keep"], false],
  ])("%s, stopped meanwhile", async (_, flags, hooks) => {
    const name = id();
    const log = join(directory, `${name}.log`);
    const path = sleeps(hooks ? poststop(log) : undefined);
    const old = foreground([...flags, "-b", path, name]);
    await until(name, "running");
    await stop(old.pid);
    await ok(["delete", "--force", name]);
    const untouched = await again(name, path);
    process.kill(old.pid, "SIGCONT");
    expect(await old.ended).toEqual({ status: 137, stderr: "" });
    await untouched();
    if (hooks) expect(readFileSync(log, "utf8")).toBe("hook\n");
  });

  test("of a service that waits for its readiness", async () => {
    const name = id();
    const socket = join(directory, `${name}.notify`);
    const manager = spawn("python3", [
      "-c",
      `import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("${socket}"); s.recv(1)`,
    ]);
    children.push(manager);
    await expect.poll(() => existsSync(socket)).toBe(true);
    const path = sleeps();
    const child = spawn(RUNTIME, ["--root", root, "run", "-b", path, name], { env: { ...process.env, NOTIFY_SOCKET: socket } });
    children.push(child);
    const ended = new Promise((resolve) => child.on("close", resolve));
    await until(name, "running");
    await stop(child.pid!);
    await ok(["delete", "--force", name]);
    const untouched = await again(name, path);
    process.kill(child.pid!, "SIGCONT");
    expect(await ended).toBe(137);
    await untouched();
  });

  test("of a container with an exit record, whose file another container has by now", async () => {
    const name = id();
    const path = sleeps();
    const record = join(directory, `${name}.record`);
    const read = () => JSON.parse(readFileSync(record, "utf8"));
    await ok(["run", "-d", "--exit-record", record, "-b", path, name]);
    const { pid } = read().monitor;
    await stop(pid);
    await ok(["delete", "--force", name]);
    rmSync(record);
    const untouched = await again(name, path, ["--exit-record", record]);
    const before = read();
    expect(before).toMatchObject({ phase: "running" });
    process.kill(pid, "SIGCONT");
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    await untouched();
    expect(read()).toEqual(before);
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => read()).toMatchObject({ phase: "exited", code: 137, pid: before.pid });
  });

  test("whose file has gone does not make it again", async () => {
    const name = id();
    const record = join(directory, `${name}.record`);
    await ok(["run", "-d", "--exit-record", record, "-b", sleeps(), name]);
    const { pid } = JSON.parse(readFileSync(record, "utf8")).monitor;
    rmSync(record);
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    expect(readdirSync(directory).filter((entry) => entry.startsWith(`${name}.record`))).toEqual([]);
  });

  const talks = (config: Config) => {
    shell(config, "head -c 300000 /dev/zero | tr '\\0' x; exec sleep 1000");
    config.process.terminal = true;
  };

  test("whose output nobody reads removes its container, and still ends when somebody reads", async () => {
    const name = id();
    const out = join(directory, `${name}.out`);
    execFileSync("mkfifo", [out]);
    const reader = openSync(out, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(out, constants.O_WRONLY);
    const old = foreground(["-b", sleeps(talks), name], writer, true);
    closeSync(writer);
    await until(name, "running");
    await sleep(500 * SLOW);
    await ok(["delete", "--force", name]);
    const untouched = await again(name, sleeps());
    // The rest is still there for a slow reader.
    expect(existsSync(`/proc/${old.pid}`)).toBe(true);
    let size = 0;
    for (const bytes = Buffer.alloc(65_536); existsSync(`/proc/${old.pid}`) && stateOf(old.pid) !== "Z"; await sleep(5)) {
      try {
        size += readSync(reader, bytes, 0, bytes.length, null);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
    }
    closeSync(reader);
    expect(size).toBeGreaterThan(32_768);
    expect(await old.ended).toEqual({ status: 137, stderr: "" });
    await untouched();
  });

  test.each(["SIGTERM", "SIGINT"] as const)("whose output nobody reads is ended by %s when its container has gone", async (signal) => {
    const name = id();
    // A socket, which is never read.
    const old = foreground(["-b", sleeps(talks), name], "pipe", true);
    await until(name, "running");
    await sleep(500 * SLOW);
    await ok(["kill", name, "KILL"]);
    await expect.poll(() => existsSync(join(root, name))).toBe(false);
    await sleep(2_300);
    // It is still there, whatever it does at this moment.
    expect(["S", "R", "D"]).toContain(stateOf(old.pid));
    old.child.stdout!.destroy();
    process.kill(old.pid, signal);
    expect((await old.ended).status).toBe(137);
  });

  test("on a terminal that takes no more goes on passing signals", async () => {
    const name = id();
    const path = sleeps((config) => {
      shell(config, "trap 'exit 9' TERM; head -c 3000 /dev/zero | tr '\\0' x; cat /dev/zero & while :; do sleep 0.05; done");
      config.process.terminal = true;
    });
    // The other side of the terminal is held, and never read.
    const holder = spawn(
      "python3",
      [
        "-c",
        "import os, pty, subprocess, sys\nm, s = pty.openpty()\np = subprocess.Popen(sys.argv[1:], stdout=s)\nprint(p.pid, flush=True)\nsys.exit(p.wait())",
      ].concat([RUNTIME, "--root", root, "run", "-b", path, name]),
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    children.push(holder);
    const pid = Number(await new Promise((resolve) => holder.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString()))));
    try {
      await until(name, "running");
      await isMonitor(pid);
      await sleep(1_000 * SLOW);
      process.kill(pid, "SIGTERM");
      await expect.poll(() => existsSync(join(root, name))).toBe(false);
    } finally {
      if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
    }
  });

  test("that comes late to the lock, with another verb at work, ends with the container's status and says what is left", async () => {
    const name = id();
    const old = foreground(["-b", sleeps(), name]);
    await until(name, "running");
    await isMonitor(old.pid);
    const { pid } = JSON.parse(await ok(["state", name])) as State;
    const holder = spawn("python3", ["-c", HOLD, join(root, name)], { stdio: ["ignore", "pipe", "ignore"] });
    children.push(holder);
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    process.kill(pid, "SIGKILL");
    const { status, stderr } = await old.ended;
    expect(status).toBe(137);
    expect(stderr).toBe(
      `runt: the container has ended, but ${root}/${name} is left, and perhaps its cgroup: another verb holds its lock, or it cannot be looked at (runt delete --force ${name} removes it)\n`,
    );
    holder.kill("SIGKILL");
    await ok(["delete", "--force", name]);
  });

  test("does nothing when the state directory is gone", async () => {
    const name = id();
    const old = foreground(["-b", sleeps(), name]);
    await until(name, "running");
    await stop(old.pid);
    const { pid } = JSON.parse(await ok(["state", name])) as State;
    await ok(["delete", "--force", name]);
    rmSync(root, { recursive: true });
    expect(existsSync(`/proc/${pid}`) && stateOf(pid) !== "Z").toBe(false);
    process.kill(old.pid, "SIGCONT");
    expect(await old.ended).toEqual({ status: 137, stderr: "" });
    expect(existsSync(root)).toBe(false);
  });

  test("under load: delete --force and run -d beside the end of a foreground run", async () => {
    const load = Array.from({ length: 4 }, () => spawn("sh", ["-c", "while :; do :; done"]));
    children.push(...load);
    const path = sleeps();
    for (let round = 0; round < 6; round++) {
      const name = id();
      const old = foreground(["-b", path, name]);
      await until(name, "running");
      await ok(["delete", "--force", name]);
      const untouched = await again(name, path);
      // A container is running as soon as its record says so: the signal may come before its program has begun.
      const early = { status: 1, stderr: "runt: unable to start container process: container init died before it was ready\n" };
      expect([{ status: 137, stderr: "" }, early]).toContainEqual(await old.ended);
      await untouched();
      await ok(["delete", "--force", name]);
    }
  });
});
