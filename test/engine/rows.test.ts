/** Numbers of docs/engine/behaviour.md that need a daemon, and nothing else. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ContainerRuntime } from "../../src/engine/run/containers/runtime.ts";
import { Effects } from "../../src/engine/run/effects.ts";
import { Engine } from "../../src/engine/run/index.ts";
import { Store, StoreError } from "../../src/engine/store/index.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { REPOSITORY } from "../support/programs.ts";
import { eventsOf, http, identityOf, isRoot, scriptTask, until, useEngine, webTask } from "./support.ts";
import { taskText } from "./tasks.ts";

const RUNT = join(REPOSITORY, "bin/runt");

interface Config {
  readonly process: object;
  readonly root: { path: string };
  readonly linux: { cgroupsPath?: string };
  hooks?: object;
}

describe.skipIf(!isRoot)("rows (need root)", () => {
  const scene = useEngine();
  const task = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (text: string) => expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
  const identities = () => scene.list().map(({ id, pid }) => `${id} ${identityOf(pid)}`);

  /** A bundle as `runt spec` makes it, whose program is a script. */
  const bundle = (script: string, change: (config: Config) => void): string => {
    const directory = mkdtempSync(join(scene.directory, "bundle-"));
    execFileSync(RUNT, ["spec", "--bundle", directory]);
    const file = join(directory, "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as Config;
    Object.assign(config.process, { terminal: false, args: ["/bin/sh", "-c", script] });
    config.root.path = scene.rootfs();
    change(config);
    writeFileSync(file, JSON.stringify(config));
    return directory;
  };

  test("E4 SIGTERM: the daemon ends with 0, the containers go on, and the next daemon has them", async () => {
    const first = await scene.daemon();
    await apply(webTask(scene.rootfs()));
    await until(async () => (await task("web")).known === "RUNNING");
    const before = identities();
    expect(before).toHaveLength(2);
    process.kill(first.pid, "SIGTERM");
    expect(await first.ended).toBe(0);
    expect(identities()).toEqual(before);
    await scene.daemon();
    expect((await task("web")).known).toBe("RUNNING");
    expect(identities()).toEqual(before);
  });

  test("E6 each step is stored before it starts; a step that cannot be stored does not start, and the caller gets an error", async () => {
    const { commit } = Store.prototype;
    const { perform } = Effects.prototype;
    const stored = new Map<string, string>();
    const begun: string[] = [];
    let isFull = true;
    vi.spyOn(Store.prototype, "commit").mockImplementation(function (this: Store, transaction) {
      if (isFull && transaction.put?.some(({ kind }) => kind === "task")) throw new StoreError("not-written", "/db", "the disk is full");
      const sequences = commit.call(this, transaction);
      for (const { kind, key, content } of transaction.put ?? []) if (kind === "task") stored.set(key, content);
      return sequences;
    });
    vi.spyOn(Effects.prototype, "perform").mockImplementation(function (this: Effects, action, record) {
      const { containers } = JSON.parse(stored.get(record.id) ?? "{}");
      begun.push("container" in action && action.type !== "remove" ? `${action.type} ${containers?.[0].applied}` : action.type);
      return perform.call(this, action, record);
    });
    try {
      const engine = await Engine.open({ stateDir: scene.stateDir, cgroupParent: CGROUP_PARENT, runtime: RUNT, taskLimits: false });
      const text = taskText(scene.rootfs(), "t", [{ name: "a" }]);
      await expect(engine.apply(text, "g")).rejects.toThrow("the disk is full");
      expect([begun, engine.list()]).toEqual([[], []]);
      isFull = false;
      await engine.apply(text, "g");
      await until(() => engine.get("t", "g").known === "RUNNING");
      await engine.delete("t", "g");
      await until(() => engine.list().length === 0);
      engine.close();
      expect(begun).toEqual(["pull PULLED", "create CREATED", "start RUNNING", "stop STOPPED", "remove"]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test("E23 if a program ends without a daemon, its exit code and the time of its end are known", async () => {
    const first = await scene.daemon();
    const shared = mkdtempSync(join(scene.directory, "shared-"));
    await apply(scriptTask(scene.rootfs(), { name: "t", script: "while [ ! -e /shared/end ]; do sleep 0.05; done; exit 7", shared }));
    await until(async () => (await task("t")).known === "RUNNING");
    const { pid } = scene.list()[0]!;
    await first.kill();
    writeFileSync(join(shared, "end"), "");
    await until(() => !existsSync(`/proc/${pid}`));
    const ended = Date.now();
    await scene.daemon();
    const { known, containers } = await task("t");
    expect(known).toBe("STOPPED");
    expect(containers[0].exit).toMatchObject({ code: 7, signal: null, unknown: false });
    expect(containers[0].exit.endedWallMs).toBeLessThanOrEqual(ended);
    // Not the time at which the second daemon has learnt of it.
    expect(containers[0].stoppedMs).toBe(containers[0].exit.endedWallMs);
    const shown = (await scene.ctl("describe", "t")).stdout;
    expect(shown).toContain(`Stopped:        ${new Date(containers[0].exit.endedWallMs).toISOString()}`);
  });

  test("E26 start, end, lack of memory and health give one event each", async () => {
    await scene.daemon();
    const eater = "x=$(head -c 41943040 /dev/zero | tr '\\0' x); sleep 1000";
    const healthCheck = { command: ["true"], interval: "100ms", timeout: "1m" };
    const containers = [
      { name: "main", fields: { healthCheck } },
      { name: "ends", script: "exit 3", fields: { essential: false } },
      { name: "eats", script: eater, fields: { essential: false, memory: "16Mi" } },
    ];
    await apply(taskText(scene.rootfs(), "t", containers));
    const events = async (type: string) =>
      (await eventsOf(scene.socket, 0)).map(({ data }) => data).filter((data) => data["type"] === type);
    const of = async (name: string) => (await events("container")).filter(({ container }) => container === name);
    const stopped = async () => (await events("container")).filter(({ known }) => known === "STOPPED").length;
    await until(async () => (await events("health")).length > 0 && (await stopped()) === 2);
    expect(await events("health")).toMatchObject([{ container: "main", status: "HEALTHY" }]);
    for (const name of ["ends", "eats"]) {
      expect((await of(name)).map(({ known }) => known).filter((known) => known === "RUNNING" || known === "STOPPED")).toEqual([
        "RUNNING",
        "STOPPED",
      ]);
    }
    expect((await of("ends")).at(-1)).toMatchObject({ exit: { code: 3, oomKilled: false } });
    expect((await of("eats")).at(-1)).toMatchObject({ exit: { code: 137, signal: 9, oomKilled: true } });
  });

  test("E35 tasks are accepted before any of them starts, even more than can start at once", async () => {
    await scene.daemon();
    const go = join(scene.directory, "go");
    const directory = bundle("trap 'exit 0' TERM; sleep 1000 & wait $!", (config) => {
      config.hooks = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `until [ -e ${go} ]; do sleep 0.05; done`] }] };
    });
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const text = names.map((name) => taskText("", name, [{ name: "a", fields: { bundle: directory } }])).join("\n---\n");
    const answer = await http(scene.socket, "POST", "/v1/apply", { text });
    expect(answer.text.match(/created/g)).toHaveLength(names.length);
    expect(scene.list().filter(({ status }) => status === "running")).toEqual([]);
    writeFileSync(go, "");
    await until(() => scene.list().filter(({ status }) => status === "running").length === names.length);
    rmSync(go);
  });

  test("E27 a container without a task is left alone, and gives no event", async () => {
    await scene.daemon();
    await apply(webTask(scene.rootfs()));
    await until(async () => (await task("web")).known === "RUNNING");
    const directory = bundle("sleep 1000", (config) => {
      config.linux.cgroupsPath = `${CGROUP_PARENT}/foreign`;
    });
    // In the place where those of the daemon are.
    const root = join(scene.stateDir, "executors/@runtime");
    execFileSync(RUNT, ["--root", root, "run", "--detach", "--bundle", directory, "foreign"], { stdio: "ignore" });
    const foreign = () => identities().filter((line) => line.startsWith("foreign "));
    const before = foreign();
    expect((await http(scene.socket, "DELETE", "/v1/tasks/web")).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/web")).status === 404);
    expect(scene.list().map(({ id }) => id)).toEqual(["foreign"]);
    expect(foreign()).toEqual(before);
    execFileSync(RUNT, ["--root", root, "delete", "--force", "foreign"]);
    expect(JSON.stringify(await eventsOf(scene.socket, 0))).not.toContain("foreign");
  });

  test("E78 removing a container that does not exist succeeds, each time", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "runt-rows-"));
    try {
      const runtime = new ContainerRuntime({
        stateDir,
        memoryDir: join(stateDir, "memory"),
        binary: RUNT,
        launchTimeoutMs: 60_000,
        cgroupOf: () => ({ parent: CGROUP_PARENT, isUnique: false }),
        fence: undefined,
        log: () => {},
      });
      expect([await runtime.remove("g.t.1.c"), await runtime.remove("g.t.1.c")]).toEqual([undefined, undefined]);
      expect(await runtime.present()).toEqual([]);
    } finally {
      rmSync(stateDir, { recursive: true, force: true });
    }
  });
});
