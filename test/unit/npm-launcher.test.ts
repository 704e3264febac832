/** What npm puts into PATH (packaging/npm/launch.cjs), with programs that stand for runt. */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const run = promisify(execFile);
const HERE = `@runt-project/runt-linux-${process.arch}`;
const directory = mkdtempSync(join(tmpdir(), "runt-launcher-"));
const launcher = join(directory, "bin/runt.cjs");
const ready = join(directory, `node_modules/${HERE}/bin/runt.ready`);

interface Failed {
  readonly code: number;
  readonly signal: string;
  readonly stderr: string;
}

function program(text: string): void {
  writeFileSync(join(directory, `node_modules/${HERE}/bin/runt`), `#!/bin/sh\n${text}`, { mode: 0o755 });
}

beforeAll(() => {
  mkdirSync(join(directory, "bin"));
  mkdirSync(join(directory, `node_modules/${HERE}/bin`), { recursive: true });
  cpSync(join(REPOSITORY, "packaging/npm/launch.cjs"), join(directory, "bin/launch.cjs"));
  writeFileSync(launcher, 'require("./launch.cjs")("runt");\n');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** It ends also when it is told nothing. */
const UNTIL_TOLD = "trap 'echo told; exit 7' USR1\necho ready\n: >$0.ready\nfor i in $(seq 1200); do sleep 0.05; done\n";

/** Status and output of the launcher; `onText` is called with it as it comes. */
function launched(options: readonly string[], onText: (text: string, kill: (signal: NodeJS.Signals) => void) => void) {
  const started = spawn(process.execPath, [...options, launcher], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  started.stdout.on("data", (data: Buffer) => {
    output += String(data);
    onText(String(data), (signal) => started.kill(signal));
  });
  return new Promise<Readonly<{ status: number | null; output: string }>>((done) =>
    started.on("close", (status) => done({ status, output })),
  );
}

test("it passes signals on, and ends with the status of its program", async () => {
  program(UNTIL_TOLD);
  const ended = await launched([], (text, kill) => text.includes("ready") && kill("SIGUSR1"));
  expect(ended).toEqual({ status: 7, output: "ready\ntold\n" });
});

test("a signal that comes while the program is being started reaches it", async () => {
  program(UNTIL_TOLD);
  rmSync(ready, { force: true });
  const early = join(directory, "early.cjs");
  // The signal is there before spawn() has returned, and not before the program has its trap.
  writeFileSync(
    early,
    `const child = require("node:child_process"), { existsSync } = require("node:fs"), { spawn } = child;
    child.spawn = (...words) => {
      const started = spawn(...words);
      const end = Date.now() + 60000;
      while (!existsSync(${JSON.stringify(ready)}) && Date.now() < end) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      process.kill(process.pid, "SIGUSR1");
      return started;
    };`,
  );
  expect(await launched(["--require", early], () => undefined)).toEqual({ status: 7, output: "ready\ntold\n" });
});

test("it ends by the signal of its program, and says what is missing", async () => {
  program("kill -TERM $$\n");
  const killed = (await run(process.execPath, [launcher]).catch((error) => error)) as Failed;
  expect(killed.signal).toBe("SIGTERM");
  rmSync(join(directory, "node_modules"), { recursive: true });
  const missing = (await run(process.execPath, [launcher]).catch((error) => error)) as Failed;
  expect(missing).toMatchObject({ code: 127, stderr: expect.stringContaining(`${HERE} is not installed`) });
});
