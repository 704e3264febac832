/** What the daemon refuses: with a typed reason, with nothing lost and nothing half done. */
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, until, useEngine, webTask } from "./support.ts";

describe.skipIf(!isRoot)("what is refused (needs root)", () => {
  const scene = useEngine();

  test("a second daemon in the same state directory, and one on the same sockets; the first one goes on", async () => {
    const first = await scene.daemon();
    const second = scene.spawn({ runDir: join(scene.directory, "other-run") });
    expect(await second.ended).toBe(1);
    expect(second.log()).toMatch(/"not-started","code":"in-use"/);
    const third = scene.spawn({ stateDir: join(scene.directory, "other-state") });
    expect(await third.ended).toBe(1);
    expect(third.log()).toMatch(/"not-started","code":"socket-in-use"/);
    expect((await scene.ctl("get")).status).toBe(0);
    await first.kill();
    // Its lock went with it.
    await scene.daemon();
  });

  test("a state directory of another user, and one into which others may write: they are left as they are", async () => {
    mkdirSync(scene.stateDir, { mode: 0o700 });
    chownSync(scene.stateDir, 12_345, 12_345);
    const foreign = scene.spawn();
    expect(await foreign.ended).toBe(1);
    expect(foreign.log()).toMatch(/"code":"not-ours".*belongs to uid 12345/);
    expect([statSync(scene.stateDir).uid, readdirSync(scene.stateDir)]).toEqual([12_345, []]);
    chownSync(scene.stateDir, 0, 0);
    chmodSync(scene.stateDir, 0o777);
    const open = scene.spawn();
    expect(await open.ended).toBe(1);
    expect(open.log()).toMatch(/"code":"not-ours".*others may write/);
  });

  test("a file with errors: each with line and column, and nothing is begun", async () => {
    await scene.daemon();
    const file = scene.file("bad.yaml", "name: web\ncontainers:\n  - name: a\n    rootfs: relative\n    comand: x\n");
    const applied = await scene.ctl("apply", "-f", file);
    expect(applied.status).toBe(1);
    expect(applied.stderr).toMatch(/bad\.yaml:4:\d+: \/containers\/0\/rootfs: /);
    expect(applied.stderr).toMatch(/bad\.yaml:5:\d+: \/containers\/0\/comand: /);
    // Without a daemon the same is said.
    expect((await scene.ctl("validate", "-f", file)).stderr).toBe(applied.stderr);
    expect((await scene.ctl("get", "web")).stderr).toContain("there is no task web");
    expect(scene.list()).toEqual([]);
  });

  test("a file with a field that nobody knows: the task that runs stays", async () => {
    await scene.daemon();
    const text = webTask(scene.rootfs());
    expect((await scene.ctl("apply", "-f", scene.file("web.yaml", text))).status).toBe(0);
    await until(() => scene.list().filter(({ status }) => status === "running").length === 2);
    const before = scene.list();
    const unknown = await scene.ctl("apply", "-f", scene.file("unknown.yaml", `memry: 64Mi\n${text}`));
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("/memry: ")]);
    expect(scene.list()).toEqual(before);
  });

  test("a root file system that is not there: the task stops, and says why", async () => {
    await scene.daemon();
    const file = scene.file("gone.yaml", webTask(join(scene.directory, "gone")));
    expect((await scene.ctl("apply", "-f", file)).status).toBe(0);
    await until(async () => /STOPPED/.test((await scene.ctl("get", "web")).stdout));
    expect((await scene.ctl("get", "web")).stdout).toContain("is not a directory");
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("a store that is damaged as a file: the daemon does not start, and touches nothing", async () => {
    mkdirSync(scene.stateDir, { mode: 0o700 });
    writeFileSync(join(scene.stateDir, "engine.db"), "no database at all\n".repeat(500), { mode: 0o600 });
    const daemon = scene.spawn();
    expect(await daemon.ended).toBe(1);
    expect(daemon.log()).toMatch(/"code":"unreadable"/);
    expect(statSync(join(scene.stateDir, "engine.db")).size).toBe(9_500);
  });
});
