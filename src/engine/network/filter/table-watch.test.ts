import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TableWatch } from "./table-watch.ts";

/** Starts the watch while the process may open no more files, and again after that. Prints what was told at first, and the answer. */
const WITHOUT_FILES = `import { closeSync, openSync } from "node:fs";
  const { TableWatch } = await import(${JSON.stringify(join(import.meta.dirname, "table-watch.ts"))});
  const told = [], open = [];
  const watch = new TableWatch({ helper: () => process.argv[1], table: "runt-0", onChanged: () => {}, onFailed: (why) => told.push(why) });
  try { for (;;) open.push(openSync("/dev/null")); } catch {}
  watch.start();
  await new Promise((resolve) => setImmediate(resolve));
  for (const one of open) closeSync(one);
  const now = performance.now();
  performance.now = () => now + 2_000;
  watch.start();
  let answer;
  for (let times = 0; times < 500 && answer === undefined; times++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    answer = await watch.generation();
  }
  watch.stop();
  console.log(JSON.stringify([told, answer]));`;

let directory: string;
let watch: TableWatch;
let told: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-watch-"));
  told = [];
});

afterEach(() => {
  vi.restoreAllMocks();
  watch.stop();
  rmSync(directory, { recursive: true });
});

/** @param script of sh, in the place of runt-pause */
function start(script: string): void {
  const helper = join(directory, "helper");
  writeFileSync(helper, `#!/bin/sh\n${script}\n`);
  chmodSync(helper, 0o755);
  const onChanged = () => void told.push("changed");
  watch = new TableWatch({ helper: () => helper, table: "runt-0", onChanged, onFailed: (why) => void told.push(why) });
  watch.start();
}

const ready = () => vi.waitFor(async () => expect(await watch.generation()).toBe(1), 5_000);
/** Answers each byte. */
const BYTES = 'echo generation 1; while [ -n "$(dd bs=1 count=1 2>/dev/null)" ]; do echo generation 1; done';

test("where no more files can be opened it throws nothing, says so, and is started again later", () => {
  start(BYTES);
  const limited = ["-c", 'ulimit -n 100; exec "$@"', "sh", process.execPath, "--import", "tsx", "--input-type=module", "-e", WITHOUT_FILES];
  const { stdout, stderr } = spawnSync("sh", [...limited, join(directory, "helper")], { encoding: "utf8", timeout: 20_000 });
  expect(stdout, stderr).toMatch(/^\[\["runt-pause watch does not work: Error: spawn [^"]+ EMFILE"\],1\]\n$/);
});

test("an answer that could not be read because this process was held up is an answer", async () => {
  start(BYTES);
  await ready();
  const asked = watch.generation();
  // The question is sent, and the answer comes meanwhile.
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  expect([await asked, told]).toEqual([1, []]);
});

test("changes of own programs are not told, but a pid is theirs only for a while", async () => {
  start(
    `echo generation 1; while [ ! -e ${"$0"}.go ]; do sleep 0.01; done; echo changed 77; while [ ! -e ${"$0"}.on ]; do sleep 0.01; done; echo changed 77; exec cat`,
  );
  watch.own(77);
  writeFileSync(join(directory, "helper.go"), "");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(told).toEqual([]);
  const now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now + 11_000);
  writeFileSync(join(directory, "helper.on"), "");
  await vi.waitFor(() => expect(told).toEqual(["changed"]), 5_000);
});

test("one that does not get ready is ended, and what it has said is told", async () => {
  start("echo no such group >&2; echo more >&2; exec sleep 60");
  await vi.waitFor(
    () => expect(told).toEqual(["runt-pause watch does not work: it has not answered within 1000 ms: no such group"]),
    5_000,
  );
});
