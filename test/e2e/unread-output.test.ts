/** Output and logs that nobody reads: TERM ends the wait whatever the verb has begun, and what it has begun is undone. */

import { spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FOREVER } from "../support/background.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { fullPipe, makeFifo } from "../support/pipes.ts";

const A_WHILE_MS = 500;
/** What the caller has not read after a second is given up. */
const BOUND_MS = 5_000 * SLOW;

describe.skipIf(!isRoot || !isRunt)("output that nobody reads (needs root)", () => {
  const { bundle, directory, id, ok, root } = useHarness();
  let count = 0;
  const path = () => join(directory, `unread-${++count}`);

  interface Call {
    isOver(): boolean;
    readonly ended: Promise<number | null>;
    terminate(): void;
  }

  function call(args: readonly string[], output: number | "ignore"): Call {
    const child = spawn(RUNTIME, ["--root", root, ...args], { stdio: ["ignore", output, output] });
    const ended = new Promise<number | null>((done) => child.on("exit", (status) => done(status)));
    return { isOver: () => child.exitCode !== null || child.signalCode !== null, ended, terminate: () => void child.kill("SIGTERM") };
  }

  const terminated = async ({ ended, isOver, terminate }: Call) => {
    await sleep(A_WHILE_MS);
    expect(isOver()).toBe(false);
    const before = Date.now();
    terminate();
    const status = await Promise.race([ended, sleep(BOUND_MS, "it goes on")]);
    expect(status).not.toBe("it goes on");
    expect(Date.now() - before).toBeLessThan(BOUND_MS);
    return status;
  };

  const withHook = (hook: { readonly path: string; readonly args: readonly string[] }) =>
    bundle((config) => {
      config["hooks"] = { createRuntime: [hook] };
    });
  const missing = (config: Config) => {
    config.process.args = ["/missing"];
  };

  test.each([["create"], ["run"], ["run --detach"], ["exec"]])("%s fails, and its error goes to a full pipe", async (verb) => {
    const name = id();
    const isExec = verb === "exec";
    if (isExec) await ok(["run", "--detach", "-b", bundle((config) => shell(config, FOREVER)), name]);
    const { reader, writer } = fullPipe(path());
    try {
      const args = isExec ? ["exec", name, "/missing"] : [...verb.split(" "), "-b", bundle(missing), name];
      expect(await terminated(call(args, writer))).toBe(isExec ? 255 : 1);
    } finally {
      closeSync(reader);
      closeSync(writer);
    }
    expect(existsSync(join(root, name))).toBe(isExec);
  });

  test("a hook that does not end is told to by the same signal", async () => {
    const name = id();
    const hook = { path: "/bin/sleep", args: ["sleep", "1000"] };
    const { reader, writer } = fullPipe(path());
    try {
      const creating = call(["create", "-b", withHook(hook), name], writer);
      expect(await terminated(creating)).toBe(143);
    } finally {
      closeSync(reader);
      closeSync(writer);
    }
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("--log is a FIFO whose reader has gone before there was anything to read", async () => {
    const name = id();
    const fifo = makeFifo(path());
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const hook = { path: "/bin/sh", args: ["sh", "-c", "sleep 1; exit 1"] };
    const config = withHook(hook);
    const creating = call(["--log", fifo, "create", "-b", config, name], "ignore");
    // By then it has looked whether the log can be written.
    await sleep(A_WHILE_MS);
    closeSync(reader);
    await sleep(1_000 * SLOW);
    expect(await terminated(creating)).toBe(1);
    expect(existsSync(join(root, name))).toBe(false);
  });
});
