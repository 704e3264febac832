/** `stdio.log`: what a container prints goes into a file with its time, whoever of those around it lives. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor } from "../../src/executor/index.ts";
import { SLOW } from "../support/harness.ts";
import { logRecords, printed } from "../support/log-file.ts";
import { CGROUP_PARENT, isGone, isRoot, REPOSITORY, until, useExecutors } from "./support.ts";

/** Seconds of the long printer; RUNT_LOG_SECONDS=60 is the real measure. */
const SECONDS = Number(process.env["RUNT_LOG_SECONDS"] ?? 3);
/** Prints lines of 100 bytes, `rate` a second, for so many seconds. */
const printer = (seconds: number, rate = 10_000) =>
  `exec awk 'BEGIN { for (t = 0; t < ${seconds * 10}; t++) { for (i = 0; i < ${rate / 10}; i++) printf "%099d\\n", n++; fflush(); system("sleep 0.1") } }'`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${String(index).padStart(99, "0")}\n`).join("");

describe.skipIf(!isRoot)("executor: log (needs root)", () => {
  const { directory, executor, rootfs, script, stateDir } = useExecutors();
  let count = 0;
  const logPath = () => {
    const path = join(directory, `logs-${++count}`);
    mkdirSync(path);
    return join(path, "log");
  };
  const pumpOf = (id: string): number => JSON.parse(readFileSync(join(stateDir, id, "record.json.log"), "utf8")).pid;
  const monitorOf = (id: string): number => JSON.parse(readFileSync(join(stateDir, id, "record.json"), "utf8")).monitor.pid;

  test("both streams with their names; everything is there when wait returns, and what was written is counted", async () => {
    const path = logPath();
    const one = executor();
    await one.launch(
      script("i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; exit 3", { stdio: { log: { path } } }),
    );
    expect(one.stdout).toBeUndefined();
    expect(await one.wait()).toMatchObject({ exitCode: 3 });
    const lines = (word: string) => Array.from({ length: 2000 }, (_, index) => `${word} ${index}\n`).join("");
    expect(printed(path, "stdout")).toBe(lines("out"));
    expect(printed(path, "stderr")).toBe(lines("err"));
    const bytes = lines("out").length + lines("err").length;
    expect(one.logUse()).toEqual({ lines: 4000, bytes, droppedLines: 0, droppedBytes: 0 });
  });

  test("created, then started by another process: what it prints is in the log of create", async () => {
    const path = logPath();
    const one = executor();
    await one.create(script("echo started", { stdio: { log: { path } } }));
    const other = await Executor.adopt({ stateDir, id: one.id });
    await other.start();
    await other.wait();
    expect(printed(path, "stdout")).toBe("started\n");
    expect(other.logUse()).toMatchObject({ lines: 1 });
  });

  test("a terminal: what it shows is in the log, as stdout", async () => {
    const path = logPath();
    const one = executor();
    await one.launch(
      script("tty > /dev/null && echo to out; echo to err >&2; i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done", {
        pty: true,
        stdio: { log: { path } },
      }),
    );
    await one.wait();
    const lines = printed(path, "stdout").replaceAll("\r", "").split("\n");
    expect(lines.slice(0, 2)).toEqual(["to out", "to err"]);
    expect(lines.slice(2)).toEqual([...Array.from({ length: 3000 }, (_, index) => String(index)), ""]);
  });

  test(
    "who has launched is killed: the container prints on, in order",
    async () => {
      const path = logPath();
      const id = `logged-${process.pid}`;
      const program = join(REPOSITORY, "test/library/programs/logger.ts");
      const words = [stateDir, id, rootfs(), CGROUP_PARENT, path, printer(SECONDS)];
      const supervisor = spawn(process.execPath, ["--import", "tsx", program, ...words], {
        stdio: ["ignore", "pipe", "inherit"],
        cwd: REPOSITORY,
      });
      await new Promise((resolve) => supervisor.stdout.once("data", resolve));
      supervisor.kill("SIGKILL");
      await new Promise((resolve) => supervisor.once("exit", resolve));
      const one = await Executor.adopt({ stateDir, id });
      expect(await one.wait()).toMatchObject({ exitCode: 0 });
      expect(printed(path, "stdout") === numbers(SECONDS * 10_000)).toBe(true);
      one.remove();
    },
    (SECONDS + 20) * 1000 * SLOW,
  );

  test(
    "its pump is killed again and again, at 1 MB a second: no line is lost, and the container does not stall",
    async () => {
      const path = logPath();
      const one = executor();
      await one.launch(script(printer(SECONDS), { stdio: { log: { path, maxBytes: 1_000_000, files: 1000 } } }));
      let kills = 0;
      const begun = performance.now();
      const ended = one.wait();
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        try {
          process.kill(pumpOf(one.id), "SIGKILL");
          kills++;
        } catch {
          // It is over.
        }
      }
      expect(await ended).toMatchObject({ exitCode: 0 });
      expect(kills).toBeGreaterThan(2 * SECONDS);
      expect(printed(path, "stdout") === numbers(SECONDS * 10_000)).toBe(true);
      // The printer itself needs a moment more than its pauses.
      expect(performance.now() - begun).toBeLessThan(SECONDS * 2000 * SLOW);
    },
    (SECONDS + 20) * 2000 * SLOW,
  );

  test("a monitor that was killed: the end is unknown, and is told when the last lines are in the log", async () => {
    const path = logPath();
    const one = executor();
    await one.launch(script("i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); sleep 0.01; done", { stdio: { log: { path } } }));
    process.kill(monitorOf(one.id), "SIGKILL");
    expect(await one.wait()).toMatchObject({ unknown: true, unknownCause: "monitor-killed" });
    expect(printed(path, "stdout")).toBe(Array.from({ length: 100 }, (_, index) => `${index}\n`).join(""));
    expect(isGone(pumpOf(one.id))).toBe(true);
  });

  test("a full disk: lines are dropped and counted, the container goes on, and the log says so when there is room", async () => {
    const mount = join(directory, `full-${++count}`);
    mkdirSync(mount);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", mount]);
    try {
      const path = join(mount, "log");
      writeFileSync(join(mount, "ballast"), "x".repeat(100_000));
      const one = executor();
      const flags = join(directory, `flags-${count}`);
      mkdirSync(flags);
      await one.launch(
        script(
          "i=0; while [ $i -lt 5000 ]; do echo $i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; i=$((i+1)); done; touch /flags/full; until [ -e /flags/room ]; do sleep 0.02; done; echo room",
          {
            stdio: { log: { path } },
            mounts: [{ destination: "/flags", source: flags, type: "bind", options: ["rbind", "rw"] }],
          },
        ),
      );
      // It has printed everything: it was not held up.
      await until(() => existsSync(join(flags, "full")));
      await until(() => (one.logUse()?.droppedLines ?? 0) > 0);
      rmSync(join(mount, "ballast"));
      await until(() => logRecords(path).some(({ stream }) => stream === "runt"));
      writeFileSync(join(flags, "room"), "");
      await one.wait();
      const records = logRecords(path);
      const told = records
        .filter(({ stream }) => stream === "runt")
        .map(({ bytes }) => /^dropped: (\d+) lines?, (\d+) bytes: no space left on device$/.exec(bytes)!);
      const dropped = told.reduce((sum, [, lines]) => sum + Number(lines), 0);
      expect(dropped).toBeGreaterThan(0);
      // Not one line is missing without having been counted.
      expect(records.filter(({ stream, isPart }) => stream === "stdout" && !isPart).length + dropped).toBe(5001);
      expect(one.logUse()).toMatchObject({ lines: 5001 - dropped, droppedLines: dropped });
      expect(records.at(-1)!.bytes).toBe("room");
    } finally {
      execFileSync("umount", [mount]);
    }
  });

  test("what cannot be is refused, and nothing is left", async () => {
    const path = logPath();
    const refused = (stdio: object) => executor().launch(script("true", { stdio } as object));
    await expect(refused({ log: { path: "relative" } })).rejects.toMatchObject({
      code: "invalid-argument",
      details: { field: "stdio.log.path" },
    });
    await expect(refused({ log: { path, maxBytes: 1000 } })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(refused({ log: { path, files: 0 } })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(refused({ log: { path }, stdout: "pipe" })).rejects.toMatchObject({ code: "invalid-argument" });
    symlinkSync("/etc/hostname", path);
    await expect(refused({ log: { path } })).rejects.toMatchObject({
      code: "launch-failed",
      message: expect.stringContaining("--output-log"),
    });
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await expect(refused({ log: { path } })).rejects.toMatchObject({ code: "launch-failed" });
    await expect(refused({ log: { path: join(directory, "absent/log") } })).rejects.toMatchObject({ code: "launch-failed" });
    expect(readdirSync(stateDir).filter((name) => !name.startsWith("@") && statSync(join(stateDir, name)).isDirectory())).toEqual([]);
  });
});
