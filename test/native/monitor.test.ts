/** The foreground monitor: status, signals, terminal, clean-up. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HELPER, HELPER_ASAN } from "../support/helper.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const BUILD = join(import.meta.dirname, "../../build/test");
const WATCH = join(BUILD, "watch");
const TERMINAL = join(BUILD, "terminal");
const REFUSE = join(BUILD, "refuse");
const NUL_EXE = "/bin/true";

interface Shape {
  readonly script: string;
  readonly terminal?: boolean;
  readonly executable?: string;
  /** The test's directory unless given. */
  readonly state?: string;
  readonly steps?: readonly string[];
  readonly command?: readonly string[];
}

describe.each([
  ["as built", HELPER, []],
  ["sanitized", HELPER_ASAN, []],
  ["pidfd_send_signal missing", HELPER, [REFUSE, "ENOSYS", "pidfd_send_signal"]],
])("monitor: %s", (_, helper, prefix) => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-monitor-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function command({ script, terminal = false, executable = NUL_EXE, state = directory, steps = [], command = [] }: Shape): string[] {
    return [
      ...prefix,
      WATCH,
      ...(terminal ? ["--terminal"] : []),
      helper,
      "/bin/sh",
      "-c",
      script,
      "--",
      executable,
      "--state",
      state,
      ...steps,
      "--",
      ...command,
    ];
  }
  const env = { ...process.env, ASAN_OPTIONS: "detect_leaks=0" };
  function run(shape: Shape, input = ""): { status: number | null; stdout: string; stderr: string } {
    const [file = "", ...args] = command(shape);
    return spawnSync(file, args, { encoding: "utf8", input, timeout: PATIENCE_MS, env });
  }
  function ended(child: ChildProcess): Promise<{ status: number | null; output: string }> {
    let output = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      output += bytes.toString();
    });
    return new Promise((resolve) => child.on("close", (status) => resolve({ status, output })));
  }
  async function until(condition: () => boolean): Promise<void> {
    await expect.poll(condition, { interval: 10 }).toBe(true);
  }

  test("ends with the container's status, or 128 + its signal", () => {
    expect(run({ script: "exit 0" }).status).toBe(0);
    expect(run({ script: "exit 42" }).status).toBe(42);
    expect(run({ script: "kill -9 $$" }).status).toBe(137);
    expect(run({ script: "kill -15 $$" }).status).toBe(143);
  });

  test("forwards signals, also those with a number of their own, but not CHLD, URG, TTIN, TTOU", async () => {
    const ready = join(directory, "ready");
    const script = `for s in HUP INT QUIT USR1 USR2 TERM WINCH CONT CHLD URG TTIN TTOU 40; do trap "echo $s" $s; done; : >${ready}; while [ ! -e ${directory}/stop ]; do sleep 0.02; done; exit 7`;
    const [file = "", ...args] = command({ script: `exec bash -c '${script}'` });
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"], env });
    const done = ended(child);
    let seen = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      seen += bytes.toString();
    });
    const lines = () => seen.split("\n").filter((line) => line !== "" && line !== "CHLD");
    await until(() => existsSync(ready));
    const names = ["HUP", "INT", "QUIT", "USR1", "USR2", "TERM", "WINCH", "CONT", "40"];
    // Two that wait come in the order of their numbers. Whatever is not forwarded would have come before the last.
    for (const [index, signal] of [1, 2, 3, 10, 12, 15, 28, 18].entries()) {
      process.kill(child.pid ?? 0, signal);
      await until(() => lines().length > index);
    }
    for (const signal of [17, 23, 21, 22, 40]) process.kill(child.pid ?? 0, signal);
    await until(() => lines().includes("40"));
    writeFileSync(join(directory, "stop"), "");
    expect((await done).status).toBe(7);
    expect(lines()).toEqual(names);
  });

  test("cleans up by itself: nothing is run when every step succeeds or was done before", () => {
    mkdirSync(join(directory, "a"));
    writeFileSync(join(directory, "b"), "");
    const steps = ["--rmdir", `${directory}/missing`, "--rmdir", `${directory}/a`, "--unlink", `${directory}/b`];
    expect(run({ script: "exit 3", steps, executable: "/bin/touch", command: ["touch", `${directory}/ran`] }).status).toBe(3);
    expect(existsSync(join(directory, "ran"))).toBe(false);
    expect(existsSync(join(directory, "a")) || existsSync(join(directory, "b"))).toBe(false);
  });

  test("runs the command when a step fails or there is none, and still ends with the container's status", () => {
    mkdirSync(join(directory, "full/x"), { recursive: true });
    const touch = (name: string): Pick<Shape, "executable" | "command"> => ({
      executable: "/bin/touch",
      command: ["touch", join(directory, name)],
    });
    expect(run({ script: "exit 3", steps: ["--rmdir", join(directory, "full")], ...touch("one") }).status).toBe(3);
    expect(run({ script: "exit 4", ...touch("two") }).status).toBe(4);
    expect(existsSync(join(directory, "one")) && existsSync(join(directory, "two"))).toBe(true);
    const failed = run({ script: "exit 5", executable: "/bin/ls", command: ["ls", "/nope"] });
    expect(failed.status).toBe(5);
    expect(failed.stderr).toContain("/nope");
    expect(run({ script: "exit 6" })).toMatchObject({ status: 6, stdout: "", stderr: "" });
  });

  test("the command runs with no signal blocked, the environment kept, and the lock of the state directory inherited", () => {
    const { stdout } = run({
      script: ":",
      executable: "/bin/sh",
      command: [
        "sh",
        "-c",
        `grep -E 'SigBlk' /proc/self/status; echo $PATH; for fd in /proc/$$/fd/*; do readlink $fd; done; flock -n ${directory} true || echo locked`,
      ],
    });
    expect(stdout).toContain("SigBlk:\t0000000000000000");
    expect(stdout).toContain(process.env["PATH"]);
    // The test runner may itself leak descriptors into its children.
    const before = spawnSync("sh", ["-c", "for fd in /proc/$$/fd/*; do readlink $fd; done"], { encoding: "utf8", input: "" }).stdout;
    const links = stdout.trimEnd().split("\n").slice(2);
    expect(links.pop()).toBe("locked");
    expect(links).toContain(directory);
    expect(links.length).toBe(before.trimEnd().split("\n").length + 1);
  });

  test("a step's relative path is below the state directory, wherever that is by now", () => {
    mkdirSync(join(directory, "state"));
    writeFileSync(join(directory, "state/file"), "");
    const touch = { executable: "/bin/touch", command: ["touch", join(directory, "ran")] };
    const steps = ["--unlink", "file", "--rmdir", join(directory, "state")];
    expect(run({ script: "exit 3", state: join(directory, "state"), steps, ...touch }).status).toBe(3);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("nothing is done when the state directory is another one, or gone", () => {
    const state = join(directory, "state");
    const touch = { executable: "/bin/touch", command: ["touch", join(directory, "ran")] };
    const steps = ["--unlink", "file", "--unlink", join(state, "file"), "--rmdir", state];
    mkdirSync(state);
    // The monitor comes out of its parent, which opens the descriptor before it is one.
    const opened = `until tr '\\0' '\\n' < /proc/$PPID/cmdline | grep -qx monitor; do sleep 0.02; done`;
    const remade = `${opened}; mv ${state} ${directory}/old; mkdir ${state}; : >${state}/file; exit 3`;
    expect(run({ script: remade, state, steps, ...touch })).toMatchObject({ status: 3, stderr: "" });
    expect(readdirSync(state)).toEqual(["file"]);
    expect(run({ script: `${opened}; rm -r ${state}; exit 4`, state, ...touch })).toMatchObject({ status: 4, stderr: "" });
    expect(readdirSync(directory)).toEqual(["old"]);
  });

  test("who has the lock for a moment is waited for", async () => {
    writeFileSync(join(directory, "b"), "");
    const release = join(directory, "release");
    const holder = spawn("flock", [directory, "sh", "-c", `until [ -e ${release} ] || [ ! -d ${directory} ]; do sleep 0.02; done`], {
      stdio: "ignore",
    });
    await until(() => spawnSync("flock", ["-n", directory, "true"]).status === 1);
    const [file = "", ...args] = command({ script: "exit 3", steps: ["--unlink", "b"] });
    const done = ended(spawn(file, args, { stdio: "ignore", env }));
    await sleep(200);
    expect(existsSync(join(directory, "b"))).toBe(true);
    writeFileSync(release, "");
    await ended(holder);
    expect((await done).status).toBe(3);
    expect(existsSync(join(directory, "b"))).toBe(false);
  });

  test("a terminal: everything the container wrote arrives, without carriage returns in a pipe", () => {
    const { status, stdout } = run({ script: "seq 1 60000; exit 9", terminal: true });
    expect(status).toBe(9);
    expect(stdout).toBe(Array.from({ length: 60_000 }, (_, i) => `${i + 1}\n`).join(""));
  });

  test("a terminal: input reaches the container", () => {
    const { stdout, status } = run({ script: 'stty -echo; read line; echo "got $line"; exit 2', terminal: true }, "hello\n");
    expect(stdout).toContain("got hello\n");
    expect(status).toBe(2);
  });

  /** A script that says that it has come this far, and waits until it is told to end. */
  const pausing = (before: string, after = "") =>
    `${before}; : >${directory}/started; until [ -e ${directory}/stop ] || [ ! -d ${directory} ]; do sleep 0.1; done; ${after}`;
  const started = () => until(() => existsSync(join(directory, "started")));
  const stop = () => writeFileSync(join(directory, "stop"), "");
  const ticks = (pid: number): number =>
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .split(" ")
      .slice(13, 15)
      .reduce((sum, text) => sum + Number(text), 0);

  test("a terminal whose reader is gone: the container runs on and no processor time is burnt", async () => {
    const [file = "", ...args] = command({ script: pausing("seq 1 50000", `echo done >${directory}/done`), terminal: true });
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"], env });
    const done = ended(child);
    child.stdout?.destroy();
    await started();
    const before = ticks(child.pid!);
    await sleep(300);
    expect(ticks(child.pid!) - before).toBeLessThan(5);
    stop();
    await done;
    expect(readFileSync(join(directory, "done"), "utf8")).toBe("done\n");
  });

  test("a terminal that the container has closed for a while does not keep the monitor busy", async () => {
    const [file = "", ...args] = command({ script: pausing("exec </dev/null >/dev/null 2>&1"), terminal: true });
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"], env });
    const done = ended(child);
    await started();
    const before = ticks(child.pid!);
    await sleep(400);
    expect(ticks(child.pid!) - before).toBeLessThan(5);
    stop();
    expect((await done).status).toBe(0);
  });

  test("on a real terminal: raw while it runs, size copied and followed, restored at the end", async () => {
    const [file = "", ...args] = command({
      script: "trap 'stty size' WINCH; stty size; while [ ! -e DIR/stop ]; do sleep 0.02; done; exit 8".replace("DIR", directory),
      terminal: true,
    });
    const child = spawn(TERMINAL, ["40", "120", file, ...args], { stdio: ["pipe", "pipe", "inherit"], env });
    let seen = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      seen += bytes.toString();
    });
    const done = ended(child);
    await until(() => seen.includes("40 120"));
    child.stdin?.write("@50 100\n");
    await until(() => seen.includes("50 100"));
    writeFileSync(join(directory, "stop"), "");
    const { status, output } = await done;
    expect(status).toBe(8);
    expect(output).toContain("40 120\r\n");
    expect(output.endsWith("\nterminal: same\n")).toBe(true);
  });

  test("takes less than 1 MB", async () => {
    if (helper === HELPER_ASAN) return;
    const [file = "", ...args] = command({ script: pausing(":"), terminal: true });
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"], env });
    const done = ended(child);
    // The program before it takes more.
    await started();
    await until(() => readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0")[1] === "monitor");
    const rss = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    expect(Number(rss)).toBeLessThan(1024);
    stop();
    await done;
  });
});
