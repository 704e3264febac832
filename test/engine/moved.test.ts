/** A state directory that was copied or moved: what runs belongs to the original, and a daemon on a copy touches nothing of it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { type Daemon, http, identityOf, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("a state directory that is somewhere else (needs root)", () => {
  const scene = useEngine();
  const copy = join(scene.directory, "copy");
  const copyRun = join(scene.directory, "copy-run");
  const [original, other] = [scene.socket, join(copyRun, "admin.sock")];
  const get = async (socket: string, name: string): Promise<TaskView> => JSON.parse((await http(socket, "GET", `/v1/tasks/${name}`)).text);
  const known = async (socket: string, name: string) => (await get(socket, name)).known;
  const node = async (socket: string): Promise<NodeView> => JSON.parse((await http(socket, "GET", "/v1/node")).text);
  const apply = async (socket: string, ...texts: readonly string[]) =>
    expect((await http(socket, "POST", "/v1/apply", { text: texts.join("\n---\n") })).text).toContain("created");
  const remove = async (socket: string, ...names: readonly string[]) => {
    for (const name of names) expect((await http(socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
    for (const name of names) await until(async () => (await http(socket, "GET", `/v1/tasks/${name}`)).status === 404);
  };
  const again = { restart: { enabled: true, backoff: { initial: "10ms" } } };
  const task = (name: string, fields: Readonly<Record<string, unknown>> = again) => taskText(scene.rootfs(), name, [{ name: "a", fields }]);
  const running = (...names: readonly string[]) =>
    until(async () => (await Promise.all(names.map((name) => known(original, name)))).every((one) => one === "RUNNING"));
  const processes = () => scene.list().map(({ id, pid, status }) => ({ id, status, pid, identity: identityOf(pid) }));
  // Nothing of a container is in it that is not ended by its daemon.
  afterEach(() => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));
  const live = (all: ReturnType<typeof processes>) =>
    all.map(({ pid, identity }) => {
      try {
        return identityOf(pid) === identity;
      } catch {
        return false;
      }
    });
  const copied = () => execFileSync("cp", ["-a", scene.stateDir, copy]);
  const onCopy = (...args: readonly string[]) => ({ stateDir: copy, runDir: copyRun, args });
  const isRefused = async (daemon: Daemon, ...texts: readonly string[]) => {
    await until(() => /"(ready|not-started)"/.test(daemon.log()));
    expect(daemon.log()).toContain('"not-started","code":"moved"');
    expect(await daemon.ended).toBe(1);
    for (const text of [...texts, "--moved"]) expect(daemon.log()).toContain(text);
  };

  test(
    "both at once: without --moved the copy is refused by name; with it, it is one of its own, in which nothing runs, and what it ends, removes and starts is its own",
    async () => {
      await scene.daemon();
      await apply(original, task("a"), task("b", {}));
      await running("a", "b");
      const before = processes();
      const cgroups = taskCgroups();
      copied();
      await isRefused(scene.spawn(onCopy()), scene.stateDir, copy);
      const second = await scene.daemon(onCopy("--moved"));
      for (const name of ["a", "b"]) {
        await until(async () => (await known(other, name)) === "STOPPED");
        expect((await get(other, name)).reason).toContain("copy");
        expect((await http(other, "POST", `/v1/tasks/${name}/stop`)).status).toBe(202);
      }
      expect((await node(other)).conditions).toEqual([]);
      expect((await http(other, "DELETE", "/v1/tasks/a")).status).toBe(202);
      await apply(other, task("c"));
      await until(async () => (await known(other, "c")) === "RUNNING");
      await second.kill();
      // Once is enough.
      const third = await scene.daemon(onCopy("--orphans", "stop"));
      expect(await known(other, "c")).toBe("RUNNING");
      await remove(other, "b", "c");
      expect(third.log()).not.toMatch(/"error"/);
      expect([processes(), taskCgroups()]).toEqual([before, cgroups]);
      expect(await known(original, "a")).toBe("RUNNING");
      expect((await scene.ctl("exec", "a", "--", "true")).status).toBe(0);
      await remove(original, "a", "b");
      expect([scene.list(), taskCgroups()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );

  test("while no daemon is on the original, and without the store: the original's go on, and its next daemon has them", async () => {
    const first = await scene.daemon();
    await apply(original, task("a"));
    await running("a");
    const before = processes();
    await first.kill();
    copied();
    await isRefused(scene.spawn(onCopy("--orphans", "stop")));
    for (const name of readdirSync(copy)) if (name.startsWith("engine.db")) rmSync(join(copy, name));
    await isRefused(scene.spawn(onCopy("--orphans", "stop")));
    const daemon = await scene.daemon(onCopy("--orphans", "stop", "--moved"));
    expect(await node(other)).toMatchObject({ tasks: 0, conditions: [] });
    await daemon.kill();
    expect(processes()).toEqual(before);
    await scene.daemon();
    await running("a");
    expect(processes()).toEqual(before);
    await remove(original, "a");
  });

  test("a copy of one that has another path meanwhile, and is in use there", async () => {
    const first = await scene.daemon();
    await apply(original, task("a"));
    await running("a");
    const before = processes();
    // It would take its own records for lost.
    process.kill(first.pid, "SIGSTOP");
    const away = `${scene.stateDir}-away`;
    renameSync(scene.stateDir, away);
    execFileSync("cp", ["-a", away, copy]);
    await isRefused(scene.spawn(onCopy()));
    await scene.daemon(onCopy("--moved"));
    await until(async () => (await known(other, "a")) === "STOPPED");
    await remove(other, "a");
    renameSync(away, scene.stateDir);
    process.kill(first.pid, "SIGCONT");
    expect(processes()).toEqual(before);
    expect((await node(original)).conditions).toEqual([]);
    await remove(original, "a");
  });

  test("moved on its file system: refused until it is said, then what runs is taken over as it is", async () => {
    const first = await scene.daemon();
    await apply(original, task("a"), task("b"));
    await running("a", "b");
    const before = processes();
    await first.kill();
    const away = `${scene.stateDir}-moved`;
    renameSync(scene.stateDir, away);
    try {
      await isRefused(scene.spawn({ stateDir: away }), scene.stateDir, away);
      const daemon = await scene.daemon({ stateDir: away, args: ["--moved"] });
      await running("a", "b");
      expect(live(before)).toEqual([true, true]);
      await remove(original, "a");
      await daemon.kill();
      await scene.daemon({ stateDir: away });
      await running("b");
      await remove(original, "b");
    } finally {
      renameSync(away, scene.stateDir);
    }
  });

  test("moved to another file system: what ran is ended by its cgroup, told, and started anew as its policy says", async () => {
    const first = await scene.daemon();
    await apply(original, task("a"), task("b", {}));
    await running("a", "b");
    const before = processes();
    await first.kill();
    const away = join(scene.directory, "tmpfs");
    mkdirSync(away);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=700", "none", away]);
    try {
      execFileSync("cp", ["-a", scene.stateDir, join(away, "state")]);
      rmSync(scene.stateDir, { recursive: true });
      const stateDir = join(away, "state");
      await isRefused(scene.spawn({ stateDir }));
      const daemon = await scene.daemon({ stateDir, args: ["--moved"] });
      await until(async () => (await known(original, "b")) === "STOPPED");
      await running("a");
      expect(live(before)).toEqual([false, false]);
      expect(await get(original, "a")).toMatchObject({ containers: [{ restarts: 1 }] });
      await remove(original, "a", "b");
      expect(taskCgroups()).toEqual([]);
      await daemon.kill();
    } finally {
      execFileSync("umount", ["-l", away]);
    }
  });
});
