/** SIGKILL that takes no effect: on v1 a process frozen by a cgroup above the container's does not end. kill says so, and names it. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const ABOVE = `/sys/fs/cgroup/freezer${CGROUP_PARENT}-frozen`;

describe.skipIf(!isRoot || !isRunt || isUnified)("kill of who cannot end (needs root, v1)", () => {
  // Hooks run in reverse order: when the containers are gone.
  afterEach(() => {
    if (existsSync(ABOVE)) rmdirSync(ABOVE);
  });
  const { bundle, id, ok, runtime, until } = useHarness();

  test("--all, and a container without a PID namespace, end with 1 and name them; they end when they are thawed", async () => {
    mkdirSync(ABOVE);
    try {
      for (const flags of [["--all"], []]) {
        const name = id();
        const path = bundle((config) => {
          config.linux.cgroupsPath = `${CGROUP_PARENT}-frozen/stuck`;
          config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
          shell(config, "sleep 1000 & exec sleep 1001");
        });
        await ok(["run", "-d", "-b", path, name]);
        await until(name, "running");
        await expect.poll(async () => JSON.parse(await ok(["ps", "-f", "json", name])).length).toBe(2);
        const pids: number[] = JSON.parse(await ok(["ps", "-f", "json", name]));
        writeFileSync(`${ABOVE}/freezer.state`, "FROZEN");
        const killed = await runtime(["kill", ...flags, name, "KILL"]);
        writeFileSync(`${ABOVE}/freezer.state`, "THAWED");
        expect(killed).toEqual({ status: 1, stdout: "", stderr: `runt: still there after SIGKILL: ${pids.join(" ")}\n` });
        await until(name, "stopped");
        await ok(["delete", "--force", name]);
      }
    } finally {
      writeFileSync(`${ABOVE}/freezer.state`, "THAWED");
    }
  });
});
