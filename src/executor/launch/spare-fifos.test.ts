import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepSpareFifos, takeFifos } from "./fifos.ts";

let directory: string;
let end: () => void;
beforeEach(() => {
  // How long launches take on a busy host does not decide when more are made.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  directory = mkdtempSync(join(tmpdir(), "runt-spare-"));
  mkfifoIs(counted());
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  end = keepSpareFifos(directory, { directory: spare() });
});
afterEach(() => {
  end();
  vi.useRealTimers();
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const mkfifoIs = (script: string) => writeFileSync(join(directory, "mkfifo"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
/** Each process of it is counted. */
const counted = () => `echo >> ${directory}/calls\nPATH=\${PATH#*:} exec mkfifo "$@"`;
/** It makes more and more, until it cannot, or has made many. */
const ENDLESS = `for path in "$@"; do :; done\nn=100\nwhile [ $n -lt 100000 ] && : > "\${path%/*}/$((n += 1))"; do :; done 2> /dev/null`;
const spare = () => join(directory, "spare");
const kept = () => (existsSync(spare()) ? readdirSync(spare()).length : 0);
const calls = () => readFileSync(join(directory, "calls"), "utf8").length;
let count = 0;
const launch = async () => {
  const paths = ["stdout", "stderr"].map((name) => join(directory, `${count++}-${name}`));
  await takeFifos(directory, paths);
  for (const path of paths) expect([statSync(path).isFIFO(), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
};

/** The pause before more are made is over, they are made, and a launch has found them: two are gone again. */
const filled = async () => {
  vi.advanceTimersByTime(200);
  await expect.poll(kept).toBe(32);
  for (let before = -1; before !== calls(); ) {
    before = calls();
    await launch();
  }
  expect(kept()).toBe(30);
};

test("after the first launch others need no process, until half of what is kept is used; then all of it is made together", async () => {
  await launch();
  await filled();
  const before = calls();
  for (let launches = 0; launches < 15; launches++) await launch();
  expect([kept(), calls()]).toEqual([0, before]);
  // More than there are.
  await launch();
  expect(calls()).toBe(before + 1);
  await filled();
});

test("where they were removed, one that is needed is made; of other executors none is kept; nothing is left at the end", async () => {
  await launch();
  await filled();
  rmSync(spare(), { recursive: true });
  await launch();
  const other = join(directory, "other");
  mkdirSync(other);
  await takeFifos(other, [join(other, "stdout")]);
  expect(statSync(join(other, "stdout")).isFIFO()).toBe(true);
  end();
  expect(existsSync(spare())).toBe(false);
});

test("it ends while they are made: nothing is thrown, and nothing is left", async () => {
  // Whether one is made while the last of them is removed is chance.
  for (let round = 0; round < 8; round++) {
    end = keepSpareFifos(directory, { directory: spare() });
    mkfifoIs(counted());
    await launch();
    mkfifoIs(ENDLESS);
    vi.advanceTimersByTime(200);
    await expect.poll(kept, { timeout: 60_000 }).toBeGreaterThan(200);
    end();
    expect(readdirSync(directory).filter((name) => name.startsWith("spare"))).toEqual([]);
  }
});
