import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Mounts } from "./mounts.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-mounts-"));
  // In the place of the real one, which needs root: each call of it is counted, and nothing is mounted.
  writeFileSync(join(directory, "mount"), `#!/bin/sh\necho "$PPID $*" >> ${directory}/calls\necho "mount: no" >&2\nexit 32\n`, {
    mode: 0o755,
  });
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test("who asks while others are mounted waits for one process together with all the rest; who has no mount then is told why", async () => {
  const mounts = new Mounts(directory);
  const { signal } = new AbortController();
  const names = Array.from({ length: 10 }, (_, at) => `root${at}`);
  const ends = await Promise.allSettled(names.map((name) => mounts.overlay(`lowerdir=a,upperdir=${name}`, join(directory, name), signal)));
  expect(ends.map((one) => (one.status === "rejected" ? String(one.reason.message) : "mounted"))).toEqual(
    names.map(() => expect.stringContaining("mount: no")),
  );
  const calls = readFileSync(join(directory, "calls"), "utf8").trim().split("\n");
  const own = calls.filter((line) => line.startsWith(`${process.pid} `));
  const shared = calls.filter((line) => !own.includes(line));
  // One by one for the reason, and before that by two shells: the first takes one, the second the others.
  expect([own.length, shared.length, new Set(shared.map((line) => line.split(" ")[0])).size]).toEqual([10, 10, 2]);
  await mounts.unmount(join(directory, "root0"));
});
