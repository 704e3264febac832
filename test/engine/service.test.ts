/** The daemon as a service: its configuration file, and sockets that systemd has opened. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { http, isRoot, LONGEST_MS, scriptTask, until, useEngine, webTask } from "./support.ts";

const ACTIVATE = "/usr/bin/systemd-socket-activate";
const RUNTD = join(REPOSITORY, "dist/runtd/main.js");

describe.skipIf(!isRoot)("the daemon as a service (needs root)", () => {
  const scene = useEngine();
  const run = (...words: readonly string[]) =>
    new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(process.execPath, [RUNTD, ...words], (_, stdout, stderr) =>
        resolve({ status: child.exitCode, stdout, stderr }),
      );
    });

  test("a configuration file is checked with line and column, and a wrong one starts nothing", async () => {
    const file = scene.file("runtd.json", '{\n  "queue": "backfill",\n  "queu": "fifo"\n}\n');
    const message = `runtd: ${file}:3:3: /queu: the field "queu" is not supported: is queue meant?\n`;
    for (const words of [["--check-config"], []])
      expect(await run("--config", file, "--state-dir", scene.stateDir, ...words)).toEqual({ status: 78, stdout: "", stderr: message });
    expect(existsSync(scene.stateDir)).toBe(false);
    scene.file("runtd.json", '{ "queue": "backfill" }');
    expect(await run("--config", file, "--check-config")).toEqual({ status: 0, stdout: `${file} is valid\n`, stderr: "" });
    chmodSync(file, 0o666);
    expect(await run("--config", file, "--check-config")).toEqual({
      ...{ status: 78, stdout: "" },
      stderr: `runtd: ${file} may be written by other users: chmod go-w ${file}\n`,
    });
    chmodSync(file, 0o644);
    expect((await run("--config", file, "--queue", "x")).status).toBe(64);
    expect(await run("--config", join(scene.directory, "none"))).toMatchObject({ status: 78, stderr: expect.stringContaining("ENOENT") });
    expect(JSON.parse((await run("--config-schema")).stdout)).toHaveProperty("properties.queue");
    scene.file("runtd.json", '{ "interlinkNetwork": "none" }');
    expect(await run("--config", file)).toEqual({
      status: 78,
      stdout: "",
      stderr: `runtd: ${file}: --interlink-network needs --interlink\n`,
    });
  });

  test("a daemon has the settings of its file, and those of its command line before them", async () => {
    const file = scene.file("runtd.json", JSON.stringify({ interlink: true, cpus: 3, runDir: "/nonexistent" }));
    await scene.daemon({ args: ["--config", file, "--cpus", "2"] });
    expect(existsSync(join(scene.directory, "run/interlink.sock"))).toBe(true);
    const { text } = await http(scene.socket, "GET", "/v1/node");
    expect(JSON.parse(text).ledger.cpus.capacity).toBe(2);
    const missing = join(scene.directory, "missing/state");
    const migrated = await run("migrate", "--to", "999999", "--config", scene.file("other.json", JSON.stringify({ stateDir: missing })));
    expect([migrated.status, migrated.stderr]).toEqual([1, expect.stringContaining(missing)]);
    expect(existsSync(join(scene.directory, "missing"))).toBe(false);
  });

  test("the umask of the unit is not that of containers, but NoNewPrivileges would be: it is not set", async () => {
    const script = "while read a b; do case $a in NoNewPrivs:|Umask:) echo $a $b;; esac; done </proc/self/status";
    const seen = async (name: string, before: string) => {
      const daemon = await scene.daemon({ before });
      const file = scene.file(`${name}.yaml`, scriptTask(scene.rootfs(), { name, script, container: "privileged: true" }));
      expect(await scene.ctl("apply", "-f", file, "--wait")).toMatchObject({ status: 0 });
      const { stdout } = await scene.ctl("logs", name);
      await daemon.kill();
      return stdout;
    };
    expect(await seen("unit", "umask 077")).toBe("Umask: 0022\nNoNewPrivs: 0\n");
    expect(await seen("restricted", 'set -- setpriv --no-new-privs "$@"')).toBe("Umask: 0022\nNoNewPrivs: 1\n");
    const unit = readFileSync(join(REPOSITORY, "packaging/runtd.service"), "utf8");
    expect(unit).not.toMatch(/^NoNewPrivileges=/m);
  });

  test.skipIf(!existsSync(ACTIVATE))(
    "the first client starts the daemon, with systemd's own program (needs systemd-socket-activate)",
    async () => {
      const daemon = scene.spawn({ before: `set -- ${ACTIVATE} --listen ${scene.socket} --fdname=admin -E PATH "$@"` });
      await until(() => existsSync(scene.socket));
      expect(daemon.log()).not.toContain('"event"');
      expect((await http(scene.socket, "GET", "/v1/node")).status).toBe(200);
      expect(daemon.log()).toContain(`"sockets":["${scene.socket}",`);
    },
  );

  test(
    "a socket of systemd is taken by its name, outlives each daemon, and keeps clients waiting for the next one",
    async () => {
      const holder = join(REPOSITORY, "test/engine/programs/socket-holder.py");
      const daemon = await scene.daemon({ before: `set -- python3 ${holder} ${scene.socket} "$@"` });
      const { ino } = lstatSync(scene.socket);
      const pids = () => [...daemon.log().matchAll(/"event":"ready".*"pid":(\d+)/g)].map(([, pid]) => Number(pid));
      expect(daemon.log()).toContain(`"sockets":["${scene.socket}","${join(scene.directory, "run/read.sock")}"]`);
      const applied = await scene.ctl("apply", "-f", scene.file("web.yaml", webTask(scene.rootfs())), "--wait");
      expect([applied.status, applied.stderr]).toEqual([0, ""]);
      // No program that the daemon has started may have the socket: clients would wait for it.
      const socket = `socket:[${socketInode(scene.socket)}]`;
      expect(holdersOf(socket)).toEqual([pids()[0], daemon.pid].sort((a, b) => a! - b!));
      for (const [round, signal] of (["SIGKILL", "SIGTERM"] as const).entries()) {
        process.kill(pids().at(-1)!, signal);
        await until(() => !holdersOf(socket).includes(pids()[round]!));
        const { status } = await http(scene.socket, "GET", "/v1/tasks/web");
        expect(status).toBe(200);
        await until(() => pids().length === round + 2);
        expect(lstatSync(scene.socket).ino).toBe(ino);
      }
    },
    LONGEST_MS,
  );
});

/** Of the socket that listens at a path. */
function socketInode(path: string): string {
  const line = readFileSync("/proc/net/unix", "utf8")
    .split("\n")
    .find((one) => one.endsWith(` ${path}`) && one.includes(" 00010000 "));
  return line!.trim().split(/ +/)[6]!;
}

/** Processes with this as a descriptor, in order. */
function holdersOf(target: string): number[] {
  const hasIt = (pid: string) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === target);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && hasIt(name))
    .map(Number)
    .sort((a, b) => a - b);
}
