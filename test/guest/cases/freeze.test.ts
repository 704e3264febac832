/** Stopping and ending all processes of a container by its cgroup. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cgroupOf, isUnified } from "../../support/cgroups.ts";
import { shell, useHarness } from "../../support/harness.ts";

describe("freezing and killing", () => {
  const { bundle, id, ok, until } = useHarness();

  /** A container that counts, in its host's pid namespace if wanted, and its cgroup. */
  async function counting(hostPid = false): Promise<{ name: string; directory: string; count: () => number }> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000 & sleep 1000 & n=0; while :; do n=$((n+1)); echo $n >/run/count; done");
      config.mounts.push({ destination: "/run", type: "tmpfs", source: "tmpfs" });
      if (hostPid) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
    });
    await ok(["run", "-d", "-b", path, name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    const count = () => Number(readFileSync(`/proc/${pid}/root/run/count`, "utf8"));
    await expect.poll(() => existsSync(`/proc/${pid}/root/run/count`) && count(), { timeout: 20_000 }).toBeGreaterThan(0);
    return { name, directory: cgroupOf(pid, isUnified ? "" : "freezer"), count };
  }

  test("a paused container makes no step, and goes on when it is resumed", async () => {
    const { name, directory, count } = await counting();
    await ok(["pause", name]);
    await until(name, "paused");
    const [file, text] = isUnified ? ["cgroup.events", "frozen 1"] : ["freezer.state", "FROZEN"];
    expect(readFileSync(join(directory, file), "utf8")).toContain(text);
    const before = count();
    await new Promise((done) => setTimeout(done, 300));
    expect(count()).toBe(before);
    await ok(["resume", name]);
    await until(name, "running");
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before);
  });

  test("delete --force ends a paused container", async () => {
    const { name, directory } = await counting();
    await ok(["pause", name]);
    await ok(["delete", "--force", name]);
    expect(existsSync(directory)).toBe(false);
  });

  test("kill --all reaches every process where there is no pid namespace", async () => {
    const { name, directory } = await counting(true);
    expect(readFileSync(join(directory, "cgroup.procs"), "utf8").trim().split("\n").length).toBe(3);
    await ok(["kill", "--all", name, "KILL"]);
    await until(name, "stopped");
    await expect.poll(() => readFileSync(join(directory, "cgroup.procs"), "utf8"), { timeout: 20_000 }).toBe("");
    await ok(["delete", name]);
    expect(existsSync(directory)).toBe(false);
  });
});
