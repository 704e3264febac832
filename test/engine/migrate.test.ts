/** The store for an older program and back, while containers run; what a program does not know is refused by name. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { type Answer, eventsOf, http, identityOf, isRoot, scriptTask, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("versions of the store (needs root)", () => {
  const scene = useEngine();
  const migrate = (...args: readonly string[]) =>
    new Promise<Answer>((resolve) => {
      const child = execFile(process.execPath, [join(REPOSITORY, "dist/runtd/main.js"), "migrate", ...args], (_, stdout, stderr) =>
        resolve({ status: child.exitCode, stdout, stderr }),
      );
    });
  const store = () => join(scene.stateDir, "engine.db");
  const inStore = <T>(read: (database: DatabaseSyncInstance) => T): T => {
    const database = new DatabaseSync(store());
    try {
      return read(database);
    } finally {
      database.close();
    }
  };
  const version = () => inStore((database) => (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version);
  const to = (wanted: string) => migrate("--to", wanted, "--state-dir", scene.stateDir);

  test("down and up again: the container runs on, and events go on where they were", async () => {
    const first = await scene.daemon();
    await http(scene.socket, "POST", "/v1/apply", { text: scriptTask(scene.rootfs(), { name: "web", script: "exec sleep 1000" }) });
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).known === "RUNNING");
    const { pid } = scene.list()[0]!;
    const process = identityOf(pid);
    const newest = (await to("1")).stderr;
    expect(newest).toMatch(/"code":"in-use"|another daemon has this state directory/);
    const { lastSequence } = JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
    await first.kill();

    expect(await to("1")).toMatchObject({ status: 0, stdout: expect.stringMatching(/from version 2 to 1; .*engine\.db\.version-2\n$/) });
    expect(version()).toBe(1);
    expect(existsSync(`${store()}.version-2`)).toBe(true);

    await scene.daemon();
    expect(JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).known).toBe("RUNNING");
    expect(identityOf(pid)).toBe(process);
    expect(JSON.parse((await http(scene.socket, "GET", "/v1/node")).text)).toMatchObject({ conditions: [], epoch: 2 });
    expect((await scene.ctl("delete", "web")).status).toBe(0);
    const events = await eventsOf(scene.socket, lastSequence);
    expect(events[0]?.sequence).toBe(lastSequence + 1);
    expect(events.at(-1)?.data).toMatchObject({ type: "removed" });
  });

  test("a store of a newer program: the daemon does not start, says so by name, and changes nothing", async () => {
    const first = await scene.daemon();
    await http(scene.socket, "POST", "/v1/apply", { text: scriptTask(scene.rootfs(), { name: "web", script: "exit 0" }) });
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).known === "STOPPED");
    await first.kill();

    inStore((database) => database.exec("PRAGMA user_version = 3"));
    const newer = scene.spawn();
    expect(await newer.ended).toBe(1);
    expect(newer.log()).toMatch(/its schema is version 3, and this program knows 2.*runtd migrate --to 2/);
    expect(await to("2")).toMatchObject({ status: 1, stderr: expect.stringContaining("its schema is version 3") });
    expect(version()).toBe(3);
    expect(await to("0")).toMatchObject({ status: 64, stderr: expect.stringContaining("to: 0 is no version") });
    expect(await migrate("--state-dir", scene.stateDir)).toMatchObject({ status: 64 });
  });
});
