/** Shared proxies: by the processes that run, and by what programs in the containers see. */
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "../support/programs.ts";
import { eventsOf, http, identityOf, isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("shared proxies (needs root)", () => {
  const scene = useEngine();
  const task = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (...texts: string[]) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") });
    expect(answer.status, answer.text).toBe(200);
  };
  const proxy = (script = SLEEP, fields: Readonly<Record<string, unknown>> = {}) =>
    taskText(scene.rootfs(), "mesh", [{ name: "proxy", script, fields }], { start: "needed" });
  const user = (name: string, script = SLEEP, fields: Readonly<Record<string, unknown>> = {}) =>
    taskText(scene.rootfs(), name, [{ name: "app", script, fields }], { sharedProxy: "mesh" });
  const proxies = () => scene.list().filter(({ id, status }) => id.includes(".mesh.") && status === "running");
  const isKnown = async (name: string, known: string) => (await task(name)).known === known;

  test("E32: two tasks that need a proxy share one; it starts before them and ends after the last, and the next user gets it again", async () => {
    await scene.daemon();
    await apply(proxy());
    expect(await task("mesh")).toMatchObject({ known: "NONE", waiting: ["use: no task uses it"] });
    expect(scene.list()).toEqual([]);
    await apply(proxy(), user("a"), user("b"));
    await until(async () => (await isKnown("a", "RUNNING")) && (await isKnown("b", "RUNNING")));
    expect(proxies()).toHaveLength(1);
    const { pid } = proxies()[0]!;
    const started = async (name: string) => (await task(name)).containers[0].startedMs;
    for (const name of ["a", "b"]) expect(await started(name)).toBeGreaterThanOrEqual(await started("mesh"));
    const before = identityOf(pid);
    expect((await scene.ctl("delete", "a")).status).toBe(0);
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/a")).status === 404);
    expect(identityOf(pid)).toBe(before);
    expect((await scene.ctl("stop", "b")).status).toBe(0);
    await until(() => proxies().length === 0 && !existsSync(`/proc/${pid}`));
    await until(async () => (await task("mesh")).waiting !== null);
    const ends = (await eventsOf(scene.socket, 0)).map(({ data }) => data);
    expect(
      ends
        .filter(({ name, known }) => name === "mesh" && known === "STOPPED")
        .map(({ reason }) => JSON.stringify(reason))
        .join(),
    ).toContain("NotNeeded");
    // A daemon that is killed finds it waiting, and the next user has another process of it.
    await apply(proxy(), user("a"), user("b"));
    await until(async () => (await isKnown("a", "RUNNING")) && (await isKnown("b", "RUNNING")));
    expect(proxies()).toHaveLength(1);
    expect(await task("mesh")).toMatchObject({ generation: 2 });
    for (const name of ["a", "b", "mesh"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(() => !existsSync(join(scene.stateDir, "shared-proxies")) && scene.list().length === 0);
  });

  test("E32: after a kill the daemon still knows the users of a proxy; a proxy that ends stops its users, with its reason, and can be used again", async () => {
    const first = await scene.daemon();
    const shared = sharedIn(scene, "end");
    const script = `while [ ! -e /shared/lines ]; do sleep 0.05; done; rm /shared/lines; exit 3`;
    const fields = { mounts: [{ source: shared.directory, target: "/shared" }] };
    await apply(proxy(script, fields), user("a"));
    await until(() => isKnown("a", "RUNNING"));
    const { pid } = proxies()[0]!;
    await first.kill();
    await scene.daemon();
    await until(() => isKnown("a", "RUNNING"));
    expect(proxies().map((one) => one.pid)).toEqual([pid]);
    scene.file("shared-end/lines", "");
    await until(() => isKnown("a", "STOPPED"));
    expect((await task("a")).reason).toMatch(/^the shared proxy mesh has stopped <- essential container proxy ended <- .*exited with 3/);
    await until(async () => (await task("mesh")).waiting !== null);
    await apply(proxy(script, fields), user("a"));
    await until(() => isKnown("a", "RUNNING"));
    expect(proxies()).toHaveLength(1);
    for (const name of ["a", "mesh"]) expect((await scene.ctl("delete", name)).status).toBe(0);
  });

  test("E50: the users of a shared proxy see its admin socket by the path in a variable; they cannot replace it", async () => {
    await scene.daemon();
    copyFileSync(program("unixserve"), join(scene.rootfs(), "unixserve"));
    const shared = sharedIn(scene, "socket");
    const mounts = [{ source: shared.directory, target: "/shared" }];
    const script = "exec /unixserve $SHARED_PROXY_SOCKET > /shared/proxy";
    const look = `until [ -S $SHARED_PROXY_SOCKET ]; do sleep 0.05; done; touch /run/shared-proxy/x || echo $SHARED_PROXY_SOCKET > /shared/app; ${SLEEP}`;
    await apply(proxy(script, { mounts, stopSignal: "SIGKILL" }), user("a", look, { mounts }));
    const file = join(shared.directory, "app");
    await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
    expect(readFileSync(file, "utf8")).toBe("/run/shared-proxy/admin.sock\n");
    for (const name of ["a", "mesh"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(() => !existsSync(join(scene.stateDir, "shared-proxies")));
  });
});
