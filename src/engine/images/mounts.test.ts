import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Mounts } from "./mounts.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-mounts-"));
  // Replaces the real function, which needs root. It counts the calls and mounts nothing.
  writeFileSync(
    join(directory, "mount"),
    `#!/bin/sh\necho "$PPID $*" >> ${directory}/calls\n[ "$1" != --all ] || cat "$3" >> ${directory}/table\necho "mount: no" >&2\nexit 32\n`,
    {
      mode: 0o755,
    },
  );
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test("E63: who asks at the same time is served by one process; who has no mount then is told why", async () => {
  const mounts = new Mounts(directory);
  const { signal } = new AbortController();
  const names = Array.from({ length: 10 }, (_, at) => (at === 3 ? "root 3" : `root${at}`));
  const ends = await Promise.allSettled(names.map((name) => mounts.overlay(`lowerdir=a,upperdir=${name}`, join(directory, name), signal)));
  expect(ends.map((one) => (one.status === "rejected" ? String(one.reason.message) : "mounted"))).toEqual(
    names.map(() => expect.stringContaining("mount: no")),
  );
  const calls = () => readFileSync(join(directory, "calls"), "utf8").trim().split("\n");
  // One process for all, and then one for each to get the reason of its failure.
  expect(calls()).toHaveLength(11);
  expect(calls()[0]).toBe(`${process.pid} --all --fstab /proc/self/fd/3`);
  const lines = names.map(
    (name) => `overlay ${directory}/${name.replace(" ", "\\040")} overlay lowerdir=a,upperdir=${name.replace(" ", "\\040")} 0 0\n`,
  );
  expect(readFileSync(join(directory, "table"), "utf8")).toBe(lines.join(""));
  await mounts.unmount(join(directory, "root0"));
  // There are no further requests.
  await expect(mounts.overlay("lowerdir=a", join(directory, "alone"), signal)).rejects.toThrow("mount: no");
  expect(calls().slice(11)).toEqual(Array(2).fill(`${process.pid} -t overlay overlay -o lowerdir=a ${directory}/alone`));
});
