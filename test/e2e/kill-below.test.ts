/** kill --cgroup: signals to who is in a cgroup below the container's, and is the container's by the law of src/runtime/cgroup/ownership.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { cgroupOf } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

/** The one that the executor library prefers for its execs on v1; v2 has one. */
const HIERARCHY = existsSync("/sys/fs/cgroup/cgroup.controllers") ? "" : "freezer";
const SUB = HIERARCHY === "" ? "/job" : `${HIERARCHY}:/job`;

describe.skipIf(!isRoot || !isRunt)("kill --cgroup (needs root)", () => {
  const { bundle, id, ok, runtime, until } = useHarness();
  const strangers: ChildProcess[] = [];
  afterEach(async () => {
    for (const stranger of strangers.splice(0)) {
      const ended = new Promise((resolve) => stranger.once("exit", resolve));
      if (stranger.exitCode === null && stranger.signalCode === null && stranger.kill("SIGKILL")) await ended;
    }
  });

  function stranger(directory: string): ChildProcess {
    const child = spawn("sleep", ["4242"], { stdio: "ignore" });
    strangers.push(child);
    writeFileSync(join(directory, "cgroup.procs"), String(child.pid));
    return child;
  }

  async function container(cgroup?: string): Promise<{ readonly name: string; readonly directory: string; readonly pid: number }> {
    const name = id();
    const path = bundle((config) => {
      if (cgroup !== undefined) config.linux.cgroupsPath = cgroup;
      shell(config, "exec sleep 1000");
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    const { pid } = JSON.parse(await ok(["state", name]));
    return { name, pid, directory: join(cgroupOf(pid, HIERARCHY || "memory"), "job") };
  }

  const members = (directory: string) =>
    readFileSync(join(directory, "cgroup.procs"), "utf8").trim().split("\n").filter(Boolean).map(Number);
  const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  const poll = { interval: 10 };

  async function job(name: string, directory: string, script: string): Promise<void> {
    mkdirSync(directory);
    await ok(["exec", "-d", "--cgroup", SUB, name, "sh", "-c", script]);
  }

  test("KILL ends all that is there and below, and nothing else; another signal goes to all of them once", async () => {
    const { name, directory, pid } = await container();
    await job(name, directory, "trap 'exit 0' USR1; sleep 1000 & (setsid sleep 1001 &); while :; do sleep 1002 & wait $!; done");
    await expect.poll(() => members(directory).length, poll).toBe(4);
    mkdirSync(join(directory, "deeper"));
    writeFileSync(join(directory, "deeper/cgroup.procs"), String(members(directory).at(-1)));
    const all = [...members(directory), ...members(join(directory, "deeper"))];
    expect(all).toHaveLength(4);
    await ok(["kill", "--cgroup", SUB, name, "USR1"]);
    await expect.poll(() => all.filter(isAlive), poll).toEqual([]);
    rmdirSync(join(directory, "deeper"));
    await ok(["exec", "-d", "--cgroup", SUB, name, "sh", "-c", "trap '' TERM; while :; do sleep 0.01 & done"]);
    await expect.poll(() => members(directory).length, poll).toBeGreaterThan(2);
    await ok(["kill", "--cgroup", SUB, name, "KILL"]);
    expect(members(directory).filter(isAlive)).toEqual([]);
    expect(isAlive(pid)).toBe(true);
    await expect.poll(() => members(directory), poll).toEqual([]);
    rmdirSync(directory);
  });

  test("in a cgroup that was there before the container, who is there is a stranger: left alone, and named", async () => {
    const path = `${CGROUP_PARENT}-before-${process.pid}`;
    const before = join("/sys/fs/cgroup", HIERARCHY, path);
    mkdirSync(before);
    try {
      const { name, directory, pid } = await container(path);
      mkdirSync(directory);
      const { pid: foreign } = stranger(directory);
      const { stderr, status } = await runtime(["kill", "--cgroup", SUB, name, "KILL"]);
      expect([status, stderr]).toEqual([0, expect.stringContaining(`left alone: process ${foreign}`)]);
      expect([isAlive(foreign!), isAlive(pid)]).toEqual([true, true]);
      await ok(["delete", "--force", name]);
      expect(isAlive(foreign!)).toBe(true);
    } finally {
      for (const one of strangers) one.kill("SIGKILL");
      await expect.poll(() => existsSync(join(before, "job")) && members(join(before, "job")).length > 0, poll).toBe(false);
      for (const left of [join(before, "job"), before]) if (existsSync(left)) rmdirSync(left);
    }
  });

  test("no such cgroup, the container's own, and flags that do not go together are errors", async () => {
    const { name, directory, pid } = await container();
    for (const wanted of [SUB, SUB.replace("/job", "/"), SUB.replace("/job", "/../x"), "nonsense:/job"]) {
      const { status, stderr } = await runtime(["kill", "--cgroup", wanted, name, "KILL"]);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/cgroup/)]);
    }
    mkdirSync(directory);
    for (const flag of ["--all", "--regex"]) expect((await runtime(["kill", flag, "--cgroup", SUB, name, "KILL"])).status).toBe(1);
    rmdirSync(directory);
    expect(isAlive(pid)).toBe(true);
  });
});
