/** The fence: how it waits (test/engine/fence.test.ts: what it is for). */
import { spawn } from "node:child_process";
import fs, { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Fence } from "../../src/executor/index.ts";
import { groupingHierarchy } from "../../src/executor/process/cgroups.ts";
import { processStat, thisBoot } from "../../src/executor/process/procfs.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const DAY_MS = 86_400_000;
const PROCESSES = 20;
describe.skipIf(process.geteuid?.() !== 0)("a fence (needs root)", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "runt-fence-"));
  const base = join(groupingHierarchy()?.mountpoint ?? "", CGROUP_PARENT);
  afterEach(() => {
    vi.restoreAllMocks();
    for (const path of ["effects", "monitors", "."].map((name) => join(base, name))) if (existsSync(path)) rmdirSync(path);
    rmSync(stateDir, { recursive: true, force: true });
  });

  const directory = join(base, "effects/key.1");
  const clear = () => new Fence({ cgroupParent: CGROUP_PARENT, key: "key", stateDir }).clear();
  /** Programs of an earlier fence; settles with the signals that they have ended by. */
  function begin(script = "exec sleep 1000"): Promise<unknown[]> {
    mkdirSync(directory, { recursive: true });
    const begun = Array.from({ length: PROCESSES }, () => spawn("sh", ["-c", script], { stdio: "ignore" }));
    const ended = Promise.all(begun.map((child) => new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))));
    for (const { pid } of begun) writeFileSync(join(directory, "cgroup.procs"), String(pid));
    return ended;
  }
  const killed = Array.from({ length: PROCESSES }, () => "SIGKILL");

  test("looks who is a monitor when everybody has stopped, and not before", async () => {
    // One that sleeps stops at once, others when they get a processor.
    const ended = begin("while :; do :; done");
    // The record of an executor is where a monitor is found. When it is opened, the state of the cgroup is looked at.
    const record = join(stateDir, "x/record.json");
    mkdirSync(join(stateDir, "x"), { recursive: true });
    const state = ["freezer.state", "cgroup.events"].map((name) => join(directory, name)).find((path) => existsSync(path));
    const seen: string[] = [];
    const { openSync } = fs;
    vi.spyOn(fs, "openSync").mockImplementation((path, ...rest) => {
      if (path === record) seen.push(/^(frozen \d|FROZEN|FREEZING|THAWED)$/m.exec(readFileSync(state!, "utf8"))?.[0] ?? "");
      return openSync(path, ...rest);
    });
    syncBuiltinESMExports();
    try {
      expect(await clear()).toBe(PROCESSES);
      expect(await ended).toEqual(killed);
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
    expect([...new Set(seen)]).toEqual([expect.stringMatching(/^(frozen 1|FROZEN)$/)]);
  });

  test("a program that ends lets out the monitors that are still inside: nothing of it is left, and no launch has waited for that", async () => {
    const fence = new Fence({ cgroupParent: CGROUP_PARENT, key: "key", stateDir });
    fence.enter("2");
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const monitor = { pid: child.pid!, startTicks: processStat(child.pid!)!.startTicks };
    mkdirSync(join(stateDir, "one"), { recursive: true });
    writeFileSync(
      join(stateDir, "one/record.json"),
      JSON.stringify({ schema: 1, id: "one", phase: "running", pid: 1, startTicks: "1", monitor, bootId: thisBoot() }),
    );
    const released = fence.release("one");
    fence.leave();
    const inside = readFileSync(join(base, "monitors/cgroup.procs"), "utf8");
    const isLeft = existsSync(join(base, "effects"));
    child.kill("SIGKILL");
    await Promise.all([ended, released]);
    expect([inside, isLeft]).toEqual([`${child.pid}\n`, false]);
  });

  test("waits as long for an end however the clock of the wall is set meanwhile", async () => {
    const ended = begin();
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => {
      now += DAY_MS;
      return now;
    });
    expect(await clear()).toBe(PROCESSES);
    expect(await ended).toEqual(killed);
    expect(existsSync(directory)).toBe(false);
  });
});
