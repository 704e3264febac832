/** pause, resume, ps and kill --all. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("pause, resume, ps, kill --all (needs root)", () => {
  const { bundle, id, ok, runtime, until } = useHarness();

  async function running(command = "exec sleep 1000", change: (config: Config) => void = () => {}): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, command);
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    return name;
  }
  const sharedPid = (config: Config) => {
    config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
    config.mounts = config.mounts.filter(({ destination }) => destination !== "/proc");
  };

  test("pause stops every process, resume lets them go on", async () => {
    const name = await running();
    expect(await ok(["pause", name])).toBe("");
    await until(name, "paused");
    const refused = await runtime(["exec", name, "true"]);
    expect(refused).toMatchObject({
      status: 255,
      stderr: expect.stringContaining("cannot exec in a paused container (use --ignore-paused to override)"),
    });
    expect((await runtime(["pause", name])).stderr).toContain("container already paused");
    const waiting = runtime(["exec", "--ignore-paused", name, "echo", "later"]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await ok(["resume", name])).toBe("");
    expect(await waiting).toMatchObject({ status: 0, stdout: "later\n" });
    expect(JSON.parse(await ok(["state", name])).status).toBe("running");
    expect((await runtime(["resume", name])).stderr).toContain("container not paused");
  });

  test("a created container can be paused; a stopped one and an unknown one cannot", async () => {
    const name = id();
    await ok(["create", "-b", bundle((config) => shell(config, "exit 0")), name]);
    await ok(["pause", name]);
    expect(JSON.parse(await ok(["state", name])).status).toBe("paused");
    await ok(["resume", name]);
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
    await ok(["start", name]);
    await until(name, "stopped");
    for (const [verb, message] of [
      ["pause", "container not running"],
      ["resume", "container not paused"],
    ] as const) {
      expect(await runtime([verb, name])).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
      expect((await runtime([verb, "nobody"])).stderr).toContain("does not exist");
    }
  });

  test("SIGKILL ends a paused container at once", async () => {
    const name = await running();
    await ok(["pause", name]);
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
  });

  test("delete --force of a paused container", async () => {
    const name = await running();
    await ok(["pause", name]);
    await ok(["delete", "--force", name]);
    expect((await runtime(["state", name])).status).toBe(1);
  });

  test("ps shows the container's processes as host pids, and filters the host's ps", async () => {
    const name = await running("sleep 1000 & exec sleep 1000");
    await expect.poll(async () => JSON.parse(await ok(["ps", "--format", "json", name])).length).toBe(2);
    const pids: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
    expect(pids).toContain(JSON.parse(await ok(["state", name])).pid);
    const table = (await ok(["ps", name])).trimEnd().split("\n");
    expect(table[0]?.split(/\s+/)).toEqual(expect.arrayContaining(["UID", "PID", "CMD"]));
    expect(table.slice(1)).toHaveLength(2);
    const own = async () => (await ok(["ps", name, "-e", "-o", "pid,args"])).trimEnd().split("\n").slice(1);
    const programs = async () => (await own()).map((row) => row.trim().split(/\s+/).slice(1).join(" "));
    await expect.poll(programs).toEqual(["sleep 1000", "sleep 1000"]);
    const wrong = await runtime(["ps", name, "-e", "-o", "args"]);
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining("PID") });
    expect((await runtime(["ps", "-f", "xml", name])).status).toBe(1);
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    if (isRunt) expect(await ok(["ps", "-f", "json", name])).toBe("[]\n");
  });

  test("kill --all of a dead container succeeds, again and again", async () => {
    const name = await running("exit 0");
    await until(name, "stopped");
    for (let round = 0; round < 2; round++)
      expect(await runtime(["kill", "--all", name, "9"])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect((await runtime(["kill", name, "15"])).stderr).toContain("container not running");
  });

  test.skipIf(!isRunt)("without a PID namespace the processes that init leaves behind die by kill --all", async () => {
    const name = await running("sleep 1000 & sleep 1000 & exec sleep 0.3", sharedPid);
    await until(name, "stopped");
    const left: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
    expect(left).toHaveLength(2);
    await ok(["kill", "--all", name, "KILL"]);
    const alive = (pid: number) =>
      readdirSync("/proc").includes(String(pid)) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    await expect.poll(() => left.filter(alive)).toEqual([]);
    await ok(["delete", name]);
  });

  test.skipIf(!isRunt)("without a PID namespace SIGKILL means every process", async () => {
    const name = await running("sleep 1000 & sleep 1000 & exec sleep 1000", sharedPid);
    await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(3);
    await ok(["kill", name, "KILL"]);
    expect(JSON.parse(await ok(["ps", "-f", "json", name]))).toEqual([]);
  });
});
