/** The fence, beside somebody who sets the clock of the wall (test/engine/fence.test.ts: what it is for). */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Fence } from "../../src/executor/index.ts";
import { groupingHierarchy } from "../../src/executor/process/cgroups.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const DAY_MS = 86_400_000;
const PROCESSES = 20;

describe.skipIf(process.geteuid?.() !== 0)("a fence (needs root)", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "runt-fence-"));
  const base = join(groupingHierarchy()?.mountpoint ?? "", CGROUP_PARENT);
  afterEach(() => {
    vi.restoreAllMocks();
    for (const path of [join(base, "effects"), base]) rmdirSync(path);
    rmSync(stateDir, { recursive: true, force: true });
  });

  test("waits as long for an end however the clock of the wall is set meanwhile", async () => {
    const directory = join(base, "effects/key.1");
    mkdirSync(directory, { recursive: true });
    const begun = Array.from({ length: PROCESSES }, () => spawn("sleep", ["1000"], { stdio: "ignore" }));
    const ended = Promise.all(begun.map((child) => new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))));
    for (const { pid } of begun) writeFileSync(join(directory, "cgroup.procs"), String(pid));
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => {
      now += DAY_MS;
      return now;
    });
    expect(await new Fence({ cgroupParent: CGROUP_PARENT, key: "key", stateDir }).clear()).toBe(PROCESSES);
    expect(await ended).toEqual(begun.map(() => "SIGKILL"));
    expect(existsSync(directory)).toBe(false);
  });
});
