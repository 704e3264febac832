/** A store that was put back to an older state: what runs and is unknown to it is shown, taken over, or stopped. */
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OrphanView, TaskView } from "../../src/engine/index.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { type Daemon, http, identityOf, isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_IMAGES = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot)("containers that the store does not know (needs root)", () => {
  const scene = useEngine();
  const get = async <T>(path: string): Promise<T> => JSON.parse((await http(scene.socket, "GET", path)).text);
  const tasks = async () => (await get<{ tasks: TaskView[] }>("/v1/tasks")).tasks;
  const orphans = async () => (await get<{ orphans: OrphanView[] }>("/v1/orphans")).orphans;
  const conditions = async () => (await get<{ conditions: { type: string }[] }>("/v1/node")).conditions.map(({ type }) => type);
  const apply = async (...list: readonly ScriptTask[]) => {
    const { status, text } = await http(scene.socket, "POST", "/v1/apply", {
      text: list.map((one) => scriptTask(scene.rootfs(), one)).join(""),
    });
    expect([status, text]).toEqual([200, expect.any(String)]);
  };
  const running = async (...names: readonly string[]) =>
    until(async () => {
      const all = await tasks();
      return names.every((name) => all.some((one) => one.name === name && one.known === "RUNNING"));
    });
  const server = (name: string, directory: string, word = name): ScriptTask => ({
    name,
    script: `echo + ${word} >> /shared/lines; touch /tmp/kept; trap 'echo - ${word} >> /shared/lines; exit 0' TERM; sleep 1000 & wait`,
    shared: directory,
    task: "volumes: [{ name: v }]",
    container: `restart: { enabled: true }`,
  });
  const processes = () => scene.list().map(({ id, pid }) => `${id} ${identityOf(pid)}`);
  const store = join(scene.stateDir, "engine.db");
  const kept = join(scene.directory, "kept.db");

  /** `old` and `web` (v1) are in the copy of the store that is put back; `web` (v2) and `new` run, and are not in it. */
  async function cutBack(directory: string, lines: () => readonly string[]): Promise<void> {
    let daemon: Daemon = await scene.daemon();
    await apply(server("old", directory), server("web", directory, "web1"));
    await running("old", "web");
    process.kill(daemon.pid, "SIGTERM");
    await daemon.ended;
    copyFileSync(store, kept);
    daemon = await scene.daemon();
    await apply(server("old", directory), server("web", directory, "web2"), server("new", directory));
    await until(() => lines().length === 5);
    await until(async () => (await tasks()).length === 3);
    await running("old", "web", "new");
    process.kill(daemon.pid, "SIGTERM");
    await daemon.ended;
    for (const name of readdirSync(scene.stateDir)) if (name.startsWith("engine.db")) rmSync(join(scene.stateDir, name));
    copyFileSync(kept, store);
  }

  test(
    "show: they run on, get shows them, and no id is given twice",
    async () => {
      const { directory, lines } = sharedIn(scene, "show");
      await cutBack(directory, lines);
      const before = processes();
      await scene.daemon();
      expect((await orphans()).map(({ task, container, isRunning }) => [task, container, isRunning])).toEqual([
        ["default.new.4", "main", true],
        ["default.web.3", "main", true],
      ]);
      expect(await conditions()).toContain("Orphans");
      const shown = (await scene.ctl("get")).stdout;
      expect(shown).toMatch(/^new +main +ORPHAN .* the store does not know it, and it runs$/m);
      expect(shown).toMatch(/^web +main +ORPHAN /m);
      expect(processes()).toEqual(expect.arrayContaining(before));
      await apply(server("new", directory, "again"));
      expect((await tasks()).find(({ name }) => name === "new")?.id).toBe("default.new.5");
      expect((await scene.ctl("-g", "other", "get")).stdout).toBe("");
    },
    LONGEST_MS,
  );

  test(
    "adopt: the same processes, as their task was applied, in the place of what they had replaced",
    async () => {
      const { directory, lines } = sharedIn(scene, "adopt");
      await cutBack(directory, lines);
      const before = processes();
      const second = await scene.daemon({ args: ["--orphans", "adopt"] });
      await running("old", "web", "new");
      await until(async () => (await tasks()).length === 3);
      expect((await tasks()).map(({ id }) => id)).toEqual(["default.new.4", "default.old.1", "default.web.3"]);
      expect([processes(), await orphans(), await conditions()]).toEqual([before, [], []]);
      // They are tasks as others: what is the same is left alone, and after a restart nobody is an orphan.
      await second.kill();
      await scene.daemon();
      await apply(server("old", directory), server("web", directory, "web2"), server("new", directory));
      expect([processes(), lines().length]).toEqual([before, 5]);
      for (const name of ["old", "web", "new"]) expect((await scene.ctl("delete", name)).status).toBe(0);
      expect(lines().filter((line) => line.startsWith("-"))).toHaveLength(4);
      nothingIsLeft();
    },
    LONGEST_MS,
  );

  test(
    "stop: they get their signal and are removed with all of their task, also those whose task nobody knows any more; the others run on",
    async () => {
      const { directory, lines } = sharedIn(scene, "stop");
      await cutBack(directory, lines);
      rmSync(join(scene.stateDir, "tasks/default.new.4.json"));
      await scene.daemon({ args: ["--orphans", "stop"] });
      await until(() => lines().includes("- web2") && lines().includes("- new"));
      await until(() => scene.list().every(({ id }) => id.startsWith("default.old.") || id.startsWith("default.web.1")));
      await until(async () => (await orphans()).length === 0);
      await running("old");
      expect(lines().filter((line) => line === "- old")).toEqual([]);
      await until(async () => (await tasks()).every(({ id }) => id === "default.old.1"));
      for (const name of ["old"]) expect((await scene.ctl("delete", name)).status).toBe(0);
      await until(() => readdirSync(join(scene.stateDir, "executors")).filter((name) => !name.startsWith("@")).length === 0);
    },
    LONGEST_MS,
  );

  test.skipIf(!HAS_IMAGES)(
    "stop: nothing of a task that nobody knows waits for the next start: root file system, network, cgroup, volumes and logs are gone",
    async () => {
      const directory = join(scene.directory, "layout");
      writeLayout(directory, { layers: [baseLayer()] });
      const daemon = await scene.daemon();
      process.kill(daemon.pid, "SIGTERM");
      await daemon.ended;
      copyFileSync(store, kept);
      const second = await scene.daemon();
      const { status, text } = await http(scene.socket, "POST", "/v1/apply", {
        text: JSON.stringify({
          name: "lost",
          pids: 50,
          volumes: [{ name: "v" }],
          containers: [{ name: "main", image: `oci:${directory}:v1`, command: "/bin/sh", args: ["-c", SLEEP] }],
        }),
      });
      expect([status, text]).toEqual([200, expect.any(String)]);
      await running("lost");
      process.kill(second.pid, "SIGTERM");
      await second.ended;
      for (const name of readdirSync(scene.stateDir)) if (name.startsWith("engine.db")) rmSync(join(scene.stateDir, name));
      copyFileSync(kept, store);
      const roots = join(scene.stateDir, "images/roots");
      const [card = ""] = readdirSync(join(scene.stateDir, "tasks"));
      const task = card.replace(/\.json$/, "");
      rmSync(join(scene.stateDir, "tasks", card));
      expect([readdirSync(roots).length, taskCgroups().length > 0]).toEqual([1, true]);
      await scene.daemon({ args: ["--orphans", "stop"] });
      await until(() => scene.list().length === 0 && readdirSync(roots).length === 0);
      await until(() => taskCgroups().length === 0 && !existsSync(join(scene.stateDir, "logs", task)));
      nothingIsLeft();
    },
    LONGEST_MS,
  );

  function nothingIsLeft(): void {
    const namesIn = (name: string) => (existsSync(join(scene.stateDir, name)) ? readdirSync(join(scene.stateDir, name)) : []);
    expect(scene.list()).toEqual([]);
    expect(taskCgroups()).toEqual([]);
    for (const name of ["tasks", "logs", "volumes"]) expect(namesIn(name)).toEqual([]);
  }
});
