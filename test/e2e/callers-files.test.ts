/** FIFOs in the place of files that the caller names: what is replaced, what is waited for, and that TERM ends the wait. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, FOREVER, type Running, useBackground } from "../support/background.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const A_WHILE_MS = 500;

describe.skipIf(!isRoot || !isRunt)("what the caller names (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root } = harness;
  const { begin, exists } = useBackground(harness);
  let count = 0;

  const fifo = (): string => {
    const path = join(directory, `fifo-${++count}`);
    execFileSync("mkfifo", [path]);
    return path;
  };
  const staying = () => bundle((config) => shell(config, FOREVER));
  const waits = async ({ process }: Running): Promise<void> => {
    await sleep(A_WHILE_MS);
    expect(process.exitCode ?? process.signalCode).toBe(null);
  };
  const terminated = async ({ process, ended }: Running) => {
    const before = Date.now();
    process.kill("SIGTERM");
    const { status } = await ended;
    expect(Date.now() - before).toBeLessThan(AT_ONCE_MS);
    // By the signal itself where nothing has to be undone.
    return status ?? 128 + 15;
  };

  test("a FIFO in the place of the pid file is replaced", async () => {
    const path = fifo();
    const name = id();
    await ok(["create", "--pid-file", path, "-b", staying(), name]);
    expect(statSync(path).isFile()).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(String(JSON.parse(await ok(["state", name])).pid));
  });

  test("a pid file leaves every other file of its directory as it is, and nothing beside it", async () => {
    const place = join(directory, `place-${++count}`);
    mkdirSync(place);
    for (const name of [".env", ".exec"]) writeFileSync(join(place, name), "of the user");
    const name = id();
    await ok(["create", "--pid-file", join(place, "env"), "-b", staying(), name]);
    await ok(["start", name]);
    await ok(["exec", "-d", "--pid-file", join(place, "exec"), name, "sleep", "1000"]);
    expect(readdirSync(place).sort()).toEqual([".env", ".exec", "env", "exec"]);
    for (const name of [".env", ".exec"]) expect(readFileSync(join(place, name), "utf8")).toBe("of the user");
  });

  test.each(["--log", "--trace"])("a FIFO that nobody reads for %s: TERM ends the wait, and create has made nothing", async (flag) => {
    const name = id();
    const creating = begin(["create", "-b", staying(), name], [RUNTIME, "--root", root, flag, fifo()]);
    await waits(creating);
    expect(await terminated(creating)).toBe(143);
    expect(exists(name)).toBe(false);
  });
});
