/** The log pump beside its monitor: what is in the file, whatever the program prints and whoever kills the pump. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SLOW } from "../support/harness.ts";
import { HELPER, HELPER_ASAN } from "../support/helper.ts";
import { logFiles, logRecords, printed } from "../support/log-file.ts";

const WATCH = join(import.meta.dirname, "../../build/test/watch");

interface Settings {
  readonly size?: number;
  readonly files?: number;
  readonly log?: string;
}

describe.each([
  ["as built", HELPER],
  ["sanitized", HELPER_ASAN],
])("log: %s", (_, helper) => {
  let directory: string;
  let log: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-log-"));
    mkdirSync(join(directory, "state"));
    execFileSync("mkfifo", [join(directory, "out"), join(directory, "err")]);
    log = join(directory, "log");
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** A monitor whose init is a shell, with FIFOs as stdout and stderr. */
  function start(script: string, { size = 1_000_000, files = 3, log: path = log }: Settings = {}): ChildProcess {
    const record = ["--record", join(directory, "record"), "--record-text", '{"id":"x"', "--record-fd", join(directory, "record")];
    const words = [WATCH, helper, "/bin/sh", "-c", script, "--", "/bin/true", "--state", join(directory, "state"), ...record];
    words.push("--log", path, "--log-size", String(size), "--log-files", String(files), "--", "unused");
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    return spawn("sh", ["-c", `exec ${quoted} <>/dev/null 1<>out 2<>err`], {
      cwd: directory,
      env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0" },
      stdio: "ignore",
    });
  }
  const ended = (child: ChildProcess) =>
    new Promise<number | null>((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(child.exitCode)));
  const run = (script: string, settings?: Settings) => ended(start(script, settings));
  const counts = () => JSON.parse(readFileSync(join(directory, "record.log"), "utf8")) as Record<string, number>;
  /** Children of the monitor that are pumps. */
  const pumpsOf = ({ pid }: ChildProcess): number[] =>
    (quietly(() => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")) ?? "")
      .split(" ")
      .filter(Boolean)
      .map(Number)
      .filter((child) => quietly(() => readFileSync(`/proc/${child}/comm`, "utf8")) === "runt-log\n");
  async function until(condition: () => boolean): Promise<void> {
    const deadline = Date.now() + 10_000 * SLOW;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`not in time: ${condition}`);
      await sleep(5);
    }
  }

  test("each line with its time and stream; a part of a line, a byte 0 and an empty line as they are", async () => {
    const before = new Date().toISOString();
    expect(await run("echo one; echo two >&2; printf part; sleep 0.4; printf 'ial\\n\\n\\0zero\\nend'")).toBe(0);
    const records = logRecords(log);
    const shown = (stream: string) =>
      records.filter((one) => one.stream === stream).map(({ bytes, isPart }) => (isPart ? `${bytes}...` : bytes));
    expect(shown("stdout")).toEqual(["one", "part...", "ial", "", "\0zero", "end..."]);
    expect(shown("stderr")).toEqual(["two"]);
    for (const { time } of records) {
      expect(time.slice(0, 23) >= before.slice(0, 23)).toBe(true);
      expect(time <= new Date(Date.now() + 1000).toISOString()).toBe(true);
    }
    expect(counts()).toMatchObject({ lines: 5, bytes: 26, droppedLines: 0, droppedBytes: 0 });
    expect(statSync(log).mode & 0o777).toBe(0o640 & ~process.umask());
    // Nothing is left beside it.
    expect(readdirSync(directory).sort()).toEqual(["err", "log", "out", "record", "record.log", "state"]);
  });

  test("what was printed is in the file before the record says that nothing is left", async () => {
    const child = start("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done");
    await until(() => (quietly(() => readFileSync(join(directory, "record"), "utf8")) ?? "").includes("exited"));
    expect(printed(log, "stdout").split("\n")).toHaveLength(3001);
    await ended(child);
  });

  test("a line without an end becomes records of 16 KiB, and no byte of it is lost", async () => {
    expect(await run("head -c 100000 /dev/zero | tr '\\0' x; echo; head -c 50000 /dev/zero")).toBe(0);
    expect(printed(log, "stdout")).toBe(`${"x".repeat(100_000)}\n${"\0".repeat(50_000)}`);
    for (const { bytes } of logRecords(log)) expect(bytes.length).toBeLessThanOrEqual(16_384);
  });

  test("no file is larger than it may be; the oldest goes", async () => {
    expect(await run("i=0; while [ $i -lt 6000 ]; do echo $i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; i=$((i+1)); done", { size: 65_536 })).toBe(
      0,
    );
    expect(logFiles(log)).toEqual([`${log}.2`, `${log}.1`, log]);
    for (const file of logFiles(log)) expect(statSync(file).size).toBeLessThanOrEqual(65_536);
    const numbers = printed(log, "stdout")
      .trimEnd()
      .split("\n")
      .map((line) => Number(line.split(" ")[0]));
    expect(numbers.at(-1)).toBe(5999);
    expect(numbers).toEqual(Array.from(numbers, (_, index) => numbers[0]! + index));
    expect(counts()).toMatchObject({ lines: 6000 });
  });

  test("one file only: it begins anew", async () => {
    expect(await run("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done", { size: 65_536, files: 1 })).toBe(0);
    expect(readdirSync(directory).filter((name) => name.startsWith("log"))).toEqual(["log"]);
    expect(printed(log, "stdout")).toMatch(/\n2999\n$/);
  });

  test(
    "the pump is killed again and again: nothing is lost, nothing is there twice, the order is kept",
    async () => {
      const total = 20_000;
      const child = start(
        `i=0; while [ $i -lt ${total} ]; do echo out $i; echo err $i >&2; i=$((i+1)); [ $((i%200)) = 0 ] && sleep 0.02; done`,
        {
          size: 100_000,
          files: 100,
        },
      );
      let kills = 0;
      while (child.exitCode === null) {
        for (const pid of pumpsOf(child)) if (quietly(() => process.kill(pid, "SIGKILL"))) kills++;
        await sleep(20 + 60 * Math.random());
      }
      expect(kills).toBeGreaterThan(3);
      const lines = (word: string) => Array.from({ length: total }, (_, index) => `${word} ${index}\n`).join("");
      expect(printed(log, "stdout") === lines("out")).toBe(true);
      expect(printed(log, "stderr") === lines("err")).toBe(true);
      expect(counts()).toMatchObject({ lines: 2 * total, droppedLines: 0 });
    },
    30_000 * SLOW,
  );

  test("without its monitor the pump goes on to the end of the output, and ends", async () => {
    const child = start("i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); sleep 0.02; done");
    await until(() => pumpsOf(child).length === 1);
    const [pump] = pumpsOf(child);
    child.kill("SIGKILL");
    await ended(child);
    await until(() => !existsSync(`/proc/${pump}`));
    expect(printed(log, "stdout")).toBe(Array.from({ length: 50 }, (_, index) => `${index}\n`).join(""));
  });

  test.each([
    ["a symbolic link", () => symlinkSync(join(directory, "victim"), log), "too many levels of symbolic links"],
    ["a FIFO", () => execFileSync("mkfifo", [log]), "file exists"],
    ["a directory", () => mkdirSync(log), "is a directory"],
    ["a hard link", () => execFileSync("ln", [join(directory, "victim"), log]), "file exists"],
  ])("%s in place of the log is neither written to nor waited for; what was dropped is told later", async (_name, replace, reason) => {
    writeFileSync(join(directory, "victim"), "untouched");
    const child = start(
      "echo before; until [ -e replaced ]; do sleep 0.01; done; echo dropped 1; echo dropped 2 >&2; until [ -e gone ]; do sleep 0.01; done; echo after",
    );
    await until(() => existsSync(log) && statSync(log).size > 0);
    execFileSync("mv", [log, join(directory, "first")]);
    replace();
    writeFileSync(join(directory, "replaced"), "");
    await until(() => counts()["droppedLines"] === 2);
    expect(readFileSync(join(directory, "victim"), "utf8")).toBe("untouched");
    if (lstatSync(log).isDirectory()) rmSync(log, { recursive: true });
    else rmSync(log);
    writeFileSync(join(directory, "gone"), "");
    expect(await ended(child)).toBe(0);
    expect(printed(join(directory, "first"), "stdout")).toBe("before\n");
    expect(logRecords(log).map(({ stream, bytes }) => `${stream} ${bytes}`)).toEqual([
      `runt dropped: 2 lines, 20 bytes: ${reason}`,
      "stdout after",
    ]);
  });

  test("who has another descriptor of the pipe does not keep the end from being told", async () => {
    const child = start("sleep 0.2; echo bye");
    const holder = spawn("sh", ["-c", "exec sleep 100 1<>out"], { cwd: directory, stdio: "ignore" });
    expect(await ended(child)).toBe(0);
    holder.kill("SIGKILL");
    expect(printed(log, "stdout")).toBe("bye\n");
  });

  test.skipIf(helper === HELPER_ASAN)("the pump is below 200 KiB, and has nothing open that is not its own", async () => {
    const child = start("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo b >&2; done");
    await until(() => existsSync(`${log}.1`));
    const [pump] = pumpsOf(child);
    const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pump}/status`, "utf8"))![1]);
    const open = execFileSync("sh", ["-c", `readlink /proc/${pump}/fd/*`], { encoding: "utf8" })
      .trim()
      .split("\n");
    child.kill("SIGTERM");
    await ended(child);
    expect(resident).toBeLessThan(200);
    expect(open.map((one) => one.replace(directory, "").replace(/\[\d+\]/, "")).sort()).toEqual(
      ["/dev/null", "/dev/null", "/dev/null", "/err", "/log", "/out", "/record.log", "pipe:", "pipe:", "pipe:"].sort(),
    );
  });
});

function quietly<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}
