/** The examples of docs/library do what they say. They use the built library, as a program of somebody else does. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { sampleConfig } from "../support/config.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isRoot, REPOSITORY, useExecutors } from "./support.ts";

const EXAMPLES = join(REPOSITORY, "docs/library");
/** Node, or another program that runs JavaScript as Node does: `make test-runtimes` names several in turn. */
const RUNTIME = process.env["RUNT_EXAMPLES_WITH"] || process.execPath;
const isBun = /\/bun$/.test(RUNTIME);

describe.skipIf(!isRoot)("examples of docs/library (need root)", () => {
  const { directory, rootfs } = useExecutors();

  /** What it prints. Its temporary files are to be gone when it ends. */
  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const temporary = join(directory, "tmp");
    mkdirSync(temporary, { recursive: true });
    // Node would take a test suite of its own for a part of this one.
    const { NODE_TEST_CONTEXT: _, ...outer } = process.env;
    const { stdout } = await promisify(execFile)(RUNTIME, args, {
      cwd: EXAMPLES,
      timeout: PATIENCE_MS,
      env: { ...outer, TMPDIR: temporary, ...env },
    });
    expect(readdirSync(temporary)).toEqual([]);
    return stdout;
  }

  test("run-with-limits", async () => {
    expect(await run(["run-with-limits.mjs", rootfs()])).toBe("killed for memory (137)\n");
  });

  test("stream-output", async () => {
    const lines = (await run(["stream-output.mjs", rootfs()])).trim().split("\n");
    expect(lines.filter((line) => line !== "stderr: nobody left")).toEqual([
      "stdout: hello, world",
      "stdout: hello, runtime",
      "ended with 0",
    ]);
    expect(lines).toContain("stderr: nobody left");
  });

  test("sandbox", async () => {
    const lines = (await run(["sandbox.mjs", rootfs()])).trim().split("\n");
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe("count to three: ended with 0: 1 2 3");
    expect(lines[1]).toMatch(/^fork without end: ended by its deadline/);
    expect(lines[2]).toBe("fill the disk: ended with 0: No space left 8388608");
    expect(lines[3]).toMatch(/^eat memory: ended with 137, killed for memory/);
    expect(lines[4]).toMatch(/^print without end: ended by its (output|deadline): more/);
    expect(lines[5]).toBe("read the host: ended with 0: nothing");
    expect(lines[6]).toBe("become root: ended with 0: 65534 refused");
    expect(lines[7]).toMatch(/^reach the network: ended with [1-9]/);
  });

  test("more than a FIFO holds goes into a program and out of it", async () => {
    expect(await run([join(REPOSITORY, "test/library/programs/transfer.mjs"), rootfs()])).toBe("3000000 bytes, the same\n");
  });

  test("exec-deadline", async () => {
    expect(await run(["exec-deadline.mjs", rootfs()])).toBe(
      "first check: 0, fine\nsecond check: timed out true, it had said: asking the database\nleft in the container: sleep\nended by kill\n",
    );
  });

  test("spawn", async () => {
    expect(await run(["spawn.mjs", rootfs()])).toBe(
      "sorted: apple, pear\nsort ended with 0\nthe terminal's size: 50 132\nsleep: aborted\nnowhere: not-found\n",
    );
  });

  test("adopt-all", async () => {
    expect(await run(["adopt-all.mjs", rootfs()])).toBe(
      "build: running\ndeploy: running\nhalf-removed: unknown (state-unreadable)\n" +
        "build: adopted, ended by kill\ndeploy: adopted, ended by kill\nhalf-removed: not adopted, state-unreadable\n",
    );
  });

  test("live-stats", async () => {
    const lines = (await run(["live-stats.mjs", rootfs(), "2"])).trim().split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[3]).toMatch(/^cpu {4}[#.]{40} [1-9]\d* %$/);
    expect(lines[4]).toMatch(/^memory [#.]{40} [1-9]\d* KiB$/);
    expect(lines[5]).toMatch(/^pids {3}#{4}\.{36} 1 of 10 \(\d+ values measured\)$/);
  });

  test("adopt", async () => {
    expect(await run(["adopt.mjs", rootfs()])).toBe(
      "the first supervisor is dead\nadopted: running\nit printed: the result\nended with 42\n",
    );
  });

  test("engine-job", async () => {
    expect(await run(["engine-job.mjs", rootfs()])).toBe(
      "prepare: 0, prepared\nwork: 3, worked\nessential container work ended <- container work exited with 3\n",
    );
  });

  test("engine-restart", async () => {
    expect(await run(["engine-restart.mjs", rootfs()])).toBe(
      "main: PULLED\nmain: CREATED\nmain: RUNNING\nthe first engine is closed; its container goes on\n" +
        "the second one finds it RUNNING, and the file unchanged\nmain: STOPPED\n",
    );
  });

  test("validate-bundle", async () => {
    const good = join(directory, "good");
    mkdirSync(join(good, "rootfs"), { recursive: true });
    writeFileSync(join(good, "config.json"), JSON.stringify(sampleConfig("hello")));
    const tests = isBun ? ["test", "./validate-bundle.mjs"] : ["--test", "--test-reporter=tap", "validate-bundle.mjs"];
    // Bun writes its report to standard error.
    expect(await run(tests, { BUNDLE: good })).toMatch(isBun ? /^bun test / : /^# pass 2$/m);
    const bad = join(directory, "bad");
    mkdirSync(join(bad, "rootfs"), { recursive: true });
    const config = sampleConfig("hello");
    config.process.cwd = "relative";
    writeFileSync(join(bad, "config.json"), JSON.stringify(config));
    await expect(run(tests, { BUNDLE: bad })).rejects.toMatchObject({ code: 1 });
  });
});
