import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Runtime } from "./runtime/client.ts";
import { killTogether } from "./shutdown.ts";
import { LIBRARY_VERSION } from "./version.ts";

let directory: string;
let runtime: Runtime;
/** What a program in the place of runt was asked for: verb and arguments. */
const calls = () =>
  readFileSync(join(directory, "calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.replace(/^.*--log-format json /, ""));
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-kill-"));
  const binary = join(directory, "runt");
  const lines = [
    "#!/bin/sh",
    `if [ "$1" = --version ]; then echo "runt version ${LIBRARY_VERSION}"; exit; fi`,
    `echo "$*" >> ${directory}/calls`,
    `case "$*" in *broken*) echo '{"msg":"broken","code":"operation"}' >&3; exit 1 ;; esac`,
  ];
  writeFileSync(binary, `${lines.join("\n")}\n`);
  chmodSync(binary, 0o755);
  runtime = new Runtime({ root: join(directory, "root"), binary });
});
afterEach(() => rmSync(directory, { recursive: true }));

test("E76: the same signal at the same time is sent by one process, and others by their own", async () => {
  await Promise.all([...["a.1", "b+2", "c"].map((id) => killTogether(runtime, id, 15)), killTogether(runtime, "d", 2)]);
  await killTogether(runtime, "e", 15);
  expect(calls().sort()).toEqual(["kill --regex ^(?:a\\.1|b\\+2|c)$ 15", "kill d 2", "kill e 15"].sort());
});

test("E76: more than one command line takes go by several processes", async () => {
  await Promise.all(Array.from({ length: 100 }, (_, at) => killTogether(runtime, `c${at}`, 15)));
  expect(calls().map((line) => line.split("|").length)).toEqual(expect.arrayContaining([64, 36]));
  expect(calls()).toHaveLength(2);
});

test("E76: of one that fails the others hear nothing", async () => {
  const ends = await Promise.allSettled(["a", "broken", "c"].map((id) => killTogether(runtime, id, 15)));
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(String((ends[1] as PromiseRejectedResult).reason)).toContain("broken");
  await expect(killTogether(runtime, "broken", 15)).rejects.toThrow("broken");
});
