/** The start of an engine: numbers of docs/engine/behaviour.md about what is done in which order, and what is not lost meanwhile. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ContainerRuntime } from "../../src/engine/run/containers/runtime.ts";
import { type Engine, TaskEngine } from "../../src/engine/run/index.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { REPOSITORY } from "../support/programs.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const RUNT = join(REPOSITORY, "bin/runt");
const LIBRARY = join(REPOSITORY, "dist/engine/index.js");

describe.skipIf(!isRoot)("the start of an engine (needs root)", () => {
  const scene = useEngine();
  const settings = (further: object = {}) => ({
    ...{ stateDir: scene.stateDir, cgroupParent: CGROUP_PARENT, runtime: RUNT, taskLimits: false },
    ...further,
  });
  const started = async (engine: Engine) => {
    await engine.apply(taskText(scene.rootfs(), "t", [{ name: "a" }]), "g");
    await until(() => engine.get("t", "g").known === "RUNNING");
    return scene.list().find(({ status }) => status === "running")!;
  };
  const end = async (engine: Engine) => {
    await engine.delete("t", "g");
    await until(() => engine.list().length === 0);
    engine.close();
  };
  const isGone = (pid: number) => !existsSync(`/proc/${pid}`);

  test("E1 making an engine makes no file, no process and no timer, and it can be written as JSON", () => {
    const program = `
      const { TaskEngine } = await import(${JSON.stringify(LIBRARY)});
      const handles = process.getActiveResourcesInfo();
      const engine = new TaskEngine(${JSON.stringify(settings())});
      // The standard output is a resource from its first use on.
      const isQuiet = String(process.getActiveResourcesInfo()) === String(handles);
      process.stdout.write(JSON.stringify({ engine, isQuiet }));`;
    // It ends by itself: nothing holds it. What it asks the kernel for is seen from outside.
    const trace = join(scene.directory, "e1.strace");
    const words = ["-f", "-o", trace, "-e", "trace=mkdir,mkdirat,execve,fork,vfork,connect,bind,rename,unlink", process.execPath];
    const printed = execFileSync("strace", [...words, "--input-type=module", "-e", program], { encoding: "utf8" });
    expect(JSON.parse(printed)).toMatchObject({ engine: { state: "new", stateDir: scene.stateDir }, isQuiet: true });
    const calls = readFileSync(trace, "utf8").match(/\w+(?=\()/g);
    expect(calls).toEqual(["execve"]);
    expect(existsSync(scene.stateDir)).toBe(false);
  });

  test("E2 the exit of a container between the first scan and the start of listening is not lost", async () => {
    const first = await new TaskEngine(settings()).init();
    const { pid } = await started(first);
    first.close();
    const { find } = ContainerRuntime.prototype;
    vi.spyOn(ContainerRuntime.prototype, "find").mockImplementation(async function (this: ContainerRuntime, id) {
      const found = await find.call(this, id);
      expect(found.state).toBe("running");
      process.kill(pid, "SIGKILL");
      await until(() => isGone(pid));
      return found;
    });
    try {
      // It never looks again by itself.
      const engine = await new TaskEngine(settings({ pollMs: 3_600_000 })).init();
      vi.restoreAllMocks();
      await until(() => engine.get("t", "g").known === "STOPPED");
      expect(engine.get("t", "g").containers[0]!.exit).toMatchObject({ code: 137, signal: 9, unknown: false });
      await end(engine);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test("E3 the engine waits for a missing runtime, longer each time, and reports it once; later callers get the same engine", async () => {
    const runtime = join(scene.directory, "late-runt");
    const told: string[] = [];
    const waited: number[] = [];
    const log = (level: string, event: string) => void (level === "error" && told.push(event));
    const engine = new TaskEngine(settings({ runtime, log }), async (ms) => {
      if (waited.push(ms) === 3) symlinkSync(RUNT, runtime);
    });
    const [one, other] = await Promise.all([engine.init(), engine.init()]);
    expect([other, await engine.init()]).toEqual([one, one]);
    expect(told).toEqual(["waiting-for-runtime"]);
    for (const [index, least] of [2_000, 3_000, 4_500].entries()) {
      expect(waited[index]).toBeGreaterThanOrEqual(least);
      expect(waited[index]).toBeLessThanOrEqual(1.2 * least);
    }
    expect(waited).toHaveLength(3);
    await started(one);
    await end(one);
  });

  test("E3 the daemon also waits for its runtime, and answers as soon as the runtime exists", async () => {
    const runtime = join(scene.directory, "daemons-runt");
    const daemon = scene.spawn({ args: ["--runtime", runtime] });
    await until(() => /"waiting-for-runtime","code":"runtime-not-found"/.test(daemon.log()));
    symlinkSync(RUNT, runtime);
    await until(() => /"ready"/.test(daemon.log()));
    expect(daemon.log().match(/"level":"error"/g)).toHaveLength(1);
    expect((await http(scene.socket, "GET", "/v1/tasks")).status).toBe(200);
  });

  test("E17 the daemon recovers in fixed steps and logs each: the former daemon's work, shares, containers, tasks, ends", async () => {
    const first = await scene.daemon();
    const text = taskText(scene.rootfs(), "t", [{ name: "a" }], { memory: "64Mi" });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    await until(() => scene.list().some(({ status }) => status === "running"));
    await first.kill();
    const second = await scene.daemon();
    const lines = second
      .log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ event, step }) => step ?? event)).toEqual([
      "fence",
      "ledger",
      "orphans",
      "resources",
      "containers",
      "tasks",
      "ends",
      "metadata",
      "restore-complete",
      "ready",
    ]);
    expect(lines.find(({ step }) => step === "containers")).toMatchObject({ running: 1, failures: 0 });
    expect(lines.find(({ step }) => step === "ends")).toMatchObject({ followed: 1 });
  });

  test("E25 an exit without a notification is noticed at the next check, with its code", async () => {
    vi.spyOn(ContainerRuntime.prototype, "follow").mockImplementation(() => {});
    try {
      const engine = await new TaskEngine(settings({ pollMs: 200 })).init();
      const { pid } = await started(engine);
      process.kill(pid, "SIGKILL");
      await until(() => engine.get("t", "g").known === "STOPPED");
      expect(engine.get("t", "g").containers[0]!.exit).toMatchObject({ code: 137, signal: 9, unknown: false });
      await end(engine);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
