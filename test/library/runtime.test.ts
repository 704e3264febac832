/** The typed client: every verb, and errors with their code and place. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Runtime, RuntimeError } from "../../src/executor/index.ts";
import { type Config, sampleConfig } from "../support/config.ts";
import { CGROUP_PARENT, isGone, isRoot, until, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("Runtime (needs root)", () => {
  const { directory, rootfs } = useExecutors();
  const root = join(directory, "runtime-root");
  const runtime = new Runtime({ root });
  let count = 0;

  function bundle(change: (config: Config) => void = () => {}): string {
    const path = join(directory, `bundle-${++count}`);
    mkdirSync(path);
    const config = sampleConfig("hello");
    config.root.path = rootfs();
    config.linux.cgroupsPath = `${CGROUP_PARENT}/client-${count}`;
    config.process.args = ["/bin/sleep", "60"];
    change(config);
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    return path;
  }

  test("create, start, state, list, ps, pause, resume, update, stats, inspect, exec, kill, delete", async () => {
    const path = bundle();
    await runtime.create("one", { bundle: path });
    expect(await runtime.state("one")).toMatchObject({ id: "one", status: "created", bundle: path });
    await runtime.start("one");
    const { pid, status } = await runtime.state("one");
    expect(status).toBe("running");
    expect((await runtime.list()).map(({ id }) => id)).toEqual(["one"]);
    expect(await runtime.ps("one")).toEqual([pid]);
    await runtime.pause("one");
    expect((await runtime.state("one")).status).toBe("paused");
    await runtime.resume("one");
    await runtime.update("one", { pids: { limit: 77 } });
    expect(await runtime.stats("one")).toMatchObject({ pids: { current: 1, limit: 77 } });
    expect(await runtime.inspect("one")).toMatchObject({ state: { id: "one" }, processes: [pid], cgroup: { paths: expect.any(Array) } });
    expect(await runtime.exec("one", { args: ["sh", "-c", "cat; pwd; echo $A; exit 6"], input: "in ", env: ["A=b"], cwd: "/tmp" })).toEqual(
      {
        exitCode: 6,
        stdout: "in /tmp\nb\n",
      },
    );
    await runtime.kill("one", "KILL");
    await until(() => isGone(pid));
    await runtime.delete("one");
    expect(await runtime.list()).toEqual([]);
  });

  test("run in the background, with a pid file; delete by force", async () => {
    const pidFile = join(directory, "pid");
    await runtime.run("two", { bundle: bundle(), pidFile, cgroupParent: CGROUP_PARENT });
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(isGone(pid)).toBe(false);
    await runtime.delete("two", { force: true });
    expect(isGone(pid)).toBe(true);
    await runtime.delete("two", { force: true });
  });

  test("events: statistics until the loop is left", async () => {
    await runtime.run("three", { bundle: bundle() });
    const types: string[] = [];
    for await (const event of runtime.events("three", { intervalMs: 50 })) {
      types.push(event.type);
      expect(event.id).toBe("three");
      if (types.length === 3) break;
    }
    expect(types).toEqual(["stats", "stats", "stats"]);
    await runtime.delete("three", { force: true });
  });

  test("features, check, validate and plan need no container", async () => {
    expect(await runtime.features()).toMatchObject({ ociVersionMin: expect.any(String), linux: expect.any(Object) });
    expect(Object.keys(await runtime.check()).length).toBeGreaterThan(2);
    const good = bundle();
    expect((await runtime.validate(good, { host: "none" })).findings.filter(({ severity }) => severity === "error")).toEqual([]);
    const bad = bundle((config) => {
      config.process.cwd = "relative";
    });
    const { findings } = await runtime.validate(bad, { host: "none" });
    expect(findings).toContainEqual(expect.objectContaining({ severity: "error", pointer: "/process/cwd" }));
    expect(JSON.stringify(await runtime.plan(good))).toContain("/bin/sleep");
    await expect(runtime.plan(bad)).rejects.toMatchObject({ name: "RuntimeError", verb: "plan", pointer: "/process/cwd" });
    expect(existsSync(root) ? await runtime.list() : []).toEqual([]);
  });

  test("errors have a code, and a place when they have one", async () => {
    const state = await runtime.state("nobody").catch((error: unknown) => error);
    expect(state).toBeInstanceOf(RuntimeError);
    expect(state).toMatchObject({ code: "id-unknown", verb: "state", exitCode: 1, message: expect.stringContaining("does not exist") });
    await expect(runtime.create("bad id", { bundle: bundle() })).rejects.toMatchObject({ code: "id-invalid" });
    await expect(runtime.create("x", { bundle: "/nowhere" })).rejects.toMatchObject({ code: "config-read" });
    await expect(runtime.kill("x", "SIGNOPE")).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(runtime.checkpoint("nobody", { imagePath: join(directory, "image") })).rejects.toMatchObject({ verb: "checkpoint" });
    await expect(runtime.restore("nobody", { imagePath: join(directory, "image"), bundle: bundle() })).rejects.toMatchObject({
      verb: "restore",
    });
  });
});
