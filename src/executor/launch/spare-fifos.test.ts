import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepSpareFifos, takeFifos } from "./spare-fifos.ts";

let directory: string;
let end: () => void;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-spare-"));
  // Each process of it is counted.
  writeFileSync(join(directory, "mkfifo"), `#!/bin/sh\necho >> ${directory}/calls\nPATH=\${PATH#*:} exec mkfifo "$@"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  end = keepSpareFifos(directory, spare());
});
afterEach(() => {
  end();
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const spare = () => join(directory, "spare");
const kept = () => (existsSync(spare()) ? readdirSync(spare()).length : 0);
const calls = () => readFileSync(join(directory, "calls"), "utf8").length;
let count = 0;
const launch = async () => {
  const paths = ["stdout", "stderr"].map((name) => join(directory, `${count++}-${name}`));
  await takeFifos(directory, paths);
  for (const path of paths) expect([statSync(path).isFIFO(), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
};

test("after the first launch others need no process, until half of what is kept is used; then all of it is made together", async () => {
  await launch();
  await expect.poll(kept).toBe(32);
  expect(calls()).toBe(2);
  for (let launches = 0; launches < 7; launches++) await launch();
  expect([kept(), calls()]).toEqual([18, 2]);
  for (let launches = 0; launches < 9; launches++) await launch();
  expect([kept(), calls()]).toEqual([0, 2]);
  // More than there are.
  await launch();
  await expect.poll(kept).toBe(32);
  expect(calls()).toBe(4);
});

test("where they were removed, one that is needed is made; of other executors none is kept; nothing is left at the end", async () => {
  await launch();
  await expect.poll(kept).toBe(32);
  rmSync(spare(), { recursive: true });
  await launch();
  const other = join(directory, "other");
  mkdirSync(other);
  await takeFifos(other, [join(other, "stdout")]);
  expect(statSync(join(other, "stdout")).isFIFO()).toBe(true);
  end();
  expect(existsSync(spare())).toBe(false);
});
