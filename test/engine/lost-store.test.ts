/** The store is deleted or replaced below a running daemon, and state directories that cannot be one. */
import { chownSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("a store that is gone (needs root)", () => {
  const scene = useEngine();
  const node = async (): Promise<NodeView> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (name: string) => http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), name, [{ name: "a" }]) });
  const running = (name: string) => until(async () => (await get(name)).known === "RUNNING");
  const files = () => readdirSync(scene.stateDir).filter((name) => name.startsWith("engine.db"));

  test.each([
    [
      "deleted",
      () => {
        for (const name of files()) rmSync(join(scene.stateDir, name));
      },
    ],
    ["without its log", () => rmSync(join(scene.stateDir, "engine.db-wal"))],
    [
      "replaced by a copy",
      () => {
        cpSync(join(scene.stateDir, "engine.db"), join(scene.stateDir, "copy"));
        rmSync(join(scene.stateDir, "engine.db"));
        cpSync(join(scene.stateDir, "copy"), join(scene.stateDir, "engine.db"));
      },
    ],
  ])("%s: a condition says so, no apply says that it is done, a stop works, and a new start helps", async (_, lose) => {
    const daemon = await scene.daemon();
    expect((await apply("a")).status).toBe(200);
    await running("a");
    lose();
    await until(async () =>
      (await node()).conditions.some(({ type, message }) => type === "StoreReadOnly" && message.includes("deleted or replaced")),
    );
    const answer = await apply("b");
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining('"code":"not-written"') });
    expect((await http(scene.socket, "POST", "/v1/tasks/a/stop")).status).toBe(202);
    await until(() => scene.list().every(({ status }) => status === "stopped"));
    await daemon.kill();
    await scene.daemon({ args: ["--orphans", "stop"] });
    expect((await node()).conditions.filter(({ type }) => type === "StoreReadOnly")).toEqual([]);
    expect((await apply("c")).status).toBe(200);
    await running("c");
    for (const { name } of JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks) await scene.ctl("delete", name);
    await until(async () => (await node()).tasks === 0 && scene.list().length === 0);
  });

  test("with the specs of the tasks, too: what is stopped as unknown leaves nothing", async () => {
    const daemon = await scene.daemon();
    for (const name of ["a", "b"]) expect((await apply(name)).status).toBe(200);
    for (const name of ["a", "b"]) await running(name);
    for (const name of [...files(), "tasks"]) rmSync(join(scene.stateDir, name), { recursive: true });
    await daemon.kill();
    const next = await scene.daemon({ args: ["--orphans", "stop"] });
    await until(() => scene.list().length === 0 && taskCgroups().length === 0);
    expect(await node()).toMatchObject({ tasks: 0 });
    expect(next.log()).not.toMatch(/"error"/);
    const left = ["executors", "logs", "metadata", "etc", "volumes", "end-messages"].flatMap((name) => {
      try {
        return readdirSync(join(scene.stateDir, name)).filter((one) => !one.startsWith("@"));
      } catch {
        return [];
      }
    });
    expect(left).toEqual([]);
  });

  test("a state directory that cannot be one is refused by name, at once", async () => {
    const at = (name: string) => join(scene.directory, name);
    writeFileSync(at("file"), "");
    mkdirSync(at("somebody"), { mode: 0o700 });
    chownSync(at("somebody"), 4711, 4711);
    mkdirSync(at("real"), { mode: 0o700 });
    symlinkSync(at("real"), at("link"));
    const refused = {
      "/proc/x": "cannot be made: ENOENT",
      "/proc/x/y/z": "cannot be made: ENOENT at /proc/x",
      "/sys/x": "cannot be made: E",
      [at("file/below")]: "cannot be made: ENOTDIR",
      [at("file")]: "is not what is expected there",
      [at("link")]: "is not what is expected there",
      [at("somebody")]: "belongs to uid 4711",
    };
    for (const [stateDir, message] of Object.entries(refused)) {
      const daemon = scene.spawn({ stateDir });
      expect([stateDir, await daemon.ended]).toEqual([stateDir, 1]);
      expect(daemon.log()).toMatch(/"not-started","code":"(not-ours|not-written)"/);
      expect(daemon.log()).toContain(message);
    }
    const readOnly = scene.spawn({
      stateDir: at("read-only/state"),
      before: `mkdir ${at("read-only")} && mount -t tmpfs -o ro none ${at("read-only")}`,
    });
    expect(await readOnly.ended).toBe(1);
    expect(readOnly.log()).toContain("cannot be made: EROFS");
    const sockets = scene.spawn({ stateDir: at("real"), runDir: "/proc/x" });
    expect(await sockets.ended).toBe(1);
    expect(sockets.log()).toContain("ENOENT");
  });
});
