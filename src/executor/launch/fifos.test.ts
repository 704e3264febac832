import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeFifos } from "./fifos.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-fifos-"));
  // Each process of it is counted.
  writeFileSync(join(directory, "mkfifo"), `#!/bin/sh\necho >> ${directory}/calls\nPATH=\${PATH#*:} exec mkfifo "$@"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const path = (name: string) => join(directory, name);
const calls = () => readFileSync(path("calls"), "utf8").length;

test("who asks while others are made waits for one process together with all the rest", async () => {
  const names = Array.from({ length: 20 }, (_, at) => [path(`out${at}`), path(`err${at}`)]);
  await Promise.all(names.map(makeFifos));
  for (const one of names.flat()) expect([statSync(one).isFIFO(), statSync(one).mode & 0o777]).toEqual([true, 0o600]);
  expect(calls()).toBe(2);
});

test("a name that cannot be made is the error of the one who has asked for it", async () => {
  const [, good, bad, other] = await Promise.allSettled(
    [["first"], ["good"], ["none/bad"], ["other"]].map((names) => makeFifos(names.map(path))),
  );
  expect([good?.status, bad?.status, other?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(String((bad as PromiseRejectedResult).reason)).toContain("none/bad");
  await makeFifos([]);
  await makeFifos([path("later")]);
  expect(statSync(path("later")).isFIFO()).toBe(true);
});
