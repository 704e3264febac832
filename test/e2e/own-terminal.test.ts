/** process.terminal in the foreground without --console-socket: the caller's own stdio is a terminal (CRI-O's exec, people). */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

/** test/native/terminal.c */
const TERMINAL = join(REPOSITORY, "build/test/terminal");

/** Says its terminal, waits for another size and for a typed line, and ends with 7. */
const SESSION = [
  'tty; stty size; echo "ready"',
  'until [ "$(stty size)" = "40 100" ]; do sleep 0.02; done',
  'echo "resized"; read line; echo "typed <$line>"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && exit 7',
].join("; ");

describe.skipIf(!isRoot)("a terminal of the caller's (needs root)", () => {
  const { bundle, directory, id, ok, root, until } = useHarness();
  const poll = { interval: 20 };

  /** The runtime on a terminal of 30 rows and 90 columns. */
  function onTerminal(args: readonly string[]) {
    const child: ChildProcess = spawn(TERMINAL, ["30", "90", RUNTIME, "--root", root, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout!.on("data", (chunk) => {
      output += String(chunk);
    });
    const ended = new Promise<number | null>((done) => child.on("close", done));
    const failed = new Promise<never>((_, fail) => child.on("error", fail));
    failed.catch(() => {});
    return {
      type: (text: string) => void child.stdin!.write(text),
      shows: (text: string) => Promise.race([failed, expect.poll(() => output, poll).toContain(text)]),
      async end() {
        const status = await ended;
        return { status, output };
      },
    };
  }

  /** Steps through SESSION. */
  async function session(args: readonly string[]) {
    const terminal = onTerminal(args);
    await terminal.shows("ready");
    // A line that begins with @ is the terminal's new size: the kernel sends SIGWINCH.
    terminal.type("@40 100");
    await terminal.shows("resized");
    terminal.type("hello\n");
    const { status, output } = await terminal.end();
    expect(output).toMatch(/\/dev\/(pts\/\d+|console)\r\n30 90\r\nready\r\n/);
    expect(output).toContain("typed <hello>");
    expect(output.endsWith("\nterminal: same\n")).toBe(true);
    return status;
  }

  const terminal = (config: Config) => {
    config.process.terminal = true;
    shell(config, SESSION);
  };

  test("run: an inner terminal of the same size, which follows; its status", async () => {
    const name = id();
    expect(await session(["run", "-b", bundle(terminal), name])).toBe(7);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test.each(["flags", "document"])("exec by %s: the same, and the pid file is there while it runs", async (form) => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    await until(name, "running");
    const pidFile = join(directory, `${name}.pid`);
    const words = ["--pid-file", pidFile];
    if (form === "flags") expect(await session(["exec", ...words, "-t", name, "sh", "-c", SESSION])).toBe(7);
    else {
      const document = { terminal: true, cwd: "/", args: ["/bin/sh", "-c", SESSION], env: ["PATH=/bin"], user: { uid: 0, gid: 0 } };
      const path = join(directory, `${name}.json`);
      writeFileSync(path, JSON.stringify(document));
      expect(await session(["exec", ...words, "--process", path, name])).toBe(7);
    }
    expect(readFileSync(pidFile, "utf8")).toMatch(/^\d+$/);
  });

  test("the foreground exec's pid file names the process while it runs", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    await until(name, "running");
    const pidFile = join(directory, `${name}.pid`);
    const terminal = onTerminal(["exec", "-t", "--pid-file", pidFile, name, "sh", "-c", "echo up; read line; exit 3"]);
    await terminal.shows("up");
    const pids: number[] = JSON.parse(await ok(["ps", "--format", "json", name]));
    expect(pids).toContain(Number(readFileSync(pidFile, "utf8")));
    terminal.type("\n");
    expect((await terminal.end()).status).toBe(3);
  });

  test("Ctrl-C is the program's, not runt's", async () => {
    const name = id();
    const path = bundle((config) => {
      config.process.terminal = true;
      shell(config, 'trap "echo interrupted; exit 9" INT; echo up; while :; do sleep 0.02; done');
    });
    const terminal = onTerminal(["run", "-b", path, name]);
    await terminal.shows("up");
    terminal.type("\u0003");
    expect((await terminal.end()).status).toBe(9);
  });
});
