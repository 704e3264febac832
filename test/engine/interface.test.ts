/** The HTTP interface: what it answers is what it says that it answers. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Contract, contractOf } from "./openapi.ts";
import { eventsOf, http, isRoot, until, useEngine, webTask } from "./support.ts";

describe.skipIf(!isRoot)("the interface (needs root)", () => {
  const scene = useEngine();
  const read = join(scene.directory, "run/read.sock");
  const SECRET = "s3cret-of-the-test";
  const secretTask = () =>
    webTask(scene.rootfs()).replace(
      "    stopTimeout",
      `    env: { TOKEN: "${SECRET}" }\n    healthCheck: { http: { port: 9, path: "/?key=${SECRET}", headers: { Authorization: "Bearer ${SECRET}" } } }\n    stopTimeout`,
    );

  test("E7 E31 E85 each answer is valid by the daemon's own OpenAPI document, and the test gets every answer that the document describes", async () => {
    await scene.daemon();
    const contract: Contract = await contractOf(scene.socket);
    const ask = async (method: string, path: string, body?: unknown, socket = scene.socket) => {
      const { status, text } = await http(socket, method, path, body);
      expect([method, path, status, contract.objection(method, path, status, text)]).toEqual([method, path, status, undefined]);
      return { status, value: status < 300 && /^[[{]/.test(text) ? JSON.parse(text) : undefined, code: /"code":"([^"]+)"/.exec(text)?.[1] };
    };
    const refused = async (method: string, path: string, body?: unknown, socket = scene.socket) => {
      const { status, code } = await ask(method, path, body, socket);
      return `${status} ${code}`;
    };
    for (const path of [
      "/v1/node",
      "/v1/tasks",
      "/v1/metrics",
      "/v1/openapi.json",
      "/v1/usage",
      "/v1/orphans",
      "/v1/images",
      "/v1/interfaces",
      "/v1/pools",
      "/v1/volumes?size=true",
    ]) {
      expect((await ask("GET", path)).status).toBe(200);
      expect((await ask("GET", path, undefined, read)).status).toBe(200);
    }
    expect(await refused("GET", "/v1/tasks/web")).toBe("404 unknown-task");
    expect(await refused("DELETE", "/v1/tasks/web")).toBe("404 unknown-task");
    expect(await refused("GET", "/v1/tasks/web/detail")).toBe("404 unknown-task");
    for (const [action, body] of [["stop"], ["start"], ["restart", {}], ["rollback"]] as const) {
      expect(await refused("POST", `/v1/tasks/web/${action}`, body)).toBe("404 unknown-task");
      expect(await refused("POST", `/v1/tasks/web/${action}?group=..`, body)).toBe("400 invalid-argument");
      expect(await refused("POST", `/v1/tasks/web/${action}`, body, read)).toBe("403 read-only");
    }
    for (const [action, body] of [["undo", {}], ["scale", { replicas: 2 }], ["pause"], ["resume"], ["restart"]] as const) {
      expect(await refused("POST", `/v1/rollouts/web/${action}`, body)).toBe("404 unknown-service");
      expect(await refused("POST", `/v1/rollouts/web/${action}?group=..`, body)).toBe("400 invalid-argument");
      expect(await refused("POST", `/v1/rollouts/web/${action}`, body, read)).toBe("403 read-only");
    }
    expect(await refused("POST", "/v1/autoupdate", { names: ["web"], group: "default" })).toBe("404 unknown-service");
    expect(await refused("POST", "/v1/autoupdate", { names: ["web"] })).toBe("400 invalid-argument");
    expect(await refused("POST", "/v1/autoupdate", {}, read)).toBe("403 read-only");
    expect((await ask("POST", "/v1/autoupdate", {})).value).toEqual({ updates: [] });
    expect(await refused("GET", "/v1/rollouts/web")).toBe("404 unknown-service");
    expect(await refused("GET", "/v1/rollouts/web?group=..")).toBe("400 invalid-argument");
    for (const path of ["/v1/apply", "/v1/plan"]) {
      expect(await refused("POST", path, { text: 1 })).toBe("400 invalid-argument");
      expect(await refused("POST", path, { text: webTask("relative") })).toBe("422 invalid-spec");
      expect(await refused("POST", path, { text: webTask(scene.rootfs()), networks: ["elsewhere"] })).toBe("404 unknown-network");
      expect(await refused("POST", path, { text: "" }, read)).toBe("403 read-only");
    }
    for (const path of ["/v1/delete", "/v1/stop", "/v1/restart"]) {
      for (const body of [{}, { names: ["web"], all: true }, { names: [] }])
        expect(await refused("POST", path, body)).toBe("400 invalid-argument");
      expect(await refused("POST", path, { names: ["web"] })).toBe("404 unknown-task");
      expect(await refused("POST", path, { text: webTask("relative") })).toBe("422 invalid-spec");
      expect(await refused("POST", path, { all: true }, read)).toBe("403 read-only");
    }
    for (const work of ["prune", "pull", "build", "tag", "push", "load"]) {
      const path = `/v1/images/${work}`;
      expect(await refused("POST", path, { most: "x" })).toBe("400 invalid-argument");
      expect(await refused("POST", path, {}, read)).toBe("403 read-only");
    }
    expect((await ask("POST", "/v1/images/prune", {})).value).toEqual({ removed: [], freedBytes: 0 });
    expect((await ask("POST", "/v1/images/pull", { reference: "oci:/nowhere" })).status).toBe(200);
    expect((await ask("POST", "/v1/images/build", { reference: "docker://host/name:tag", context: "/nowhere" })).status).toBe(200);
    expect((await ask("POST", "/v1/images/push", { reference: "oci:/nowhere" })).status).toBe(200);
    expect((await ask("POST", "/v1/images/load", { file: "/nowhere" })).status).toBe(200);
    expect(await refused("POST", "/v1/images/tag", { reference: "oci:/nowhere", name: "host.example/name" })).toBe("409 no-image");
    for (const work of ["inspect", "save"]) {
      const path = `/v1/images/${work}`;
      expect(await refused("GET", path)).toBe("400 invalid-argument");
      expect(await refused("GET", `${path}?reference=oci:/nowhere`, undefined, read)).toBe("403 read-only");
    }
    expect(await refused("GET", "/v1/images/inspect?reference=oci:/nowhere")).toBe("409 no-image");
    expect((await ask("GET", "/v1/images/save?reference=oci:/nowhere")).status).toBe(200);
    const [file, registry] = ["/nowhere/auth.json", "host.example"];
    const login = { registry, username: "u", password: "p", file };
    for (const [work, body] of [
      ["login", login],
      ["logout", { all: true, file }],
    ] as const) {
      expect(await refused("POST", `/v1/registries/${work}`, { registry: "" })).toBe("400 invalid-argument");
      expect(await refused("POST", `/v1/registries/${work}`, body, read)).toBe("403 read-only");
    }
    expect(await refused("POST", "/v1/registries/login", login)).toBe("409 login-failed");
    expect(await refused("POST", "/v1/registries/logout", { registry, all: true, file })).toBe("400 invalid-argument");
    expect(await refused("POST", "/v1/registries/logout", { registry, file })).toBe("404 not-logged-in");
    expect((await ask("POST", "/v1/registries/logout", { all: true, file })).value).toEqual({ removed: [], file });
    const user = `/v1/registries/user?registry=${registry}&file=${file}`;
    expect([await refused("GET", user), await refused("GET", "/v1/registries/user")]).toEqual([
      "404 not-logged-in",
      "400 invalid-argument",
    ]);
    expect(await refused("GET", user, undefined, read)).toBe("403 read-only");
    expect(await refused("POST", "/v1/interfaces", { name: "a b" })).toBe("400 invalid-argument");
    expect(await refused("DELETE", "/v1/interfaces/a%20b")).toBe("400 invalid-argument");
    for (const [method, path] of [
      ["POST", "/v1/interfaces"],
      ["DELETE", "/v1/interfaces/eth7"],
    ] as const)
      expect(await refused(method, path, method === "POST" ? { name: "eth7" } : undefined, read)).toBe("403 read-only");
    expect(await refused("DELETE", "/v1/interfaces/eth7")).toBe("404 unknown-interface");
    expect((await ask("POST", "/v1/interfaces", { name: "eth7" })).value).toMatchObject({ name: "eth7", task: null });
    expect((await ask("GET", "/v1/interfaces")).value.interfaces).toHaveLength(1);
    expect((await ask("DELETE", "/v1/interfaces/eth7")).value).toEqual({ name: "eth7" });
    expect(await refused("GET", "/v1/volumes?size=x")).toBe("400 invalid-argument");
    for (const body of [{}, { names: [] }, { names: ["data"], unused: true }])
      expect(await refused("POST", "/v1/volumes/delete", body)).toBe("400 invalid-argument");
    expect(await refused("POST", "/v1/volumes/delete", { unused: true }, read)).toBe("403 read-only");
    expect(await refused("POST", "/v1/volumes/delete", { names: ["data"] })).toBe("404 unknown-volume");
    expect((await ask("POST", "/v1/volumes/delete", { unused: true })).value).toEqual({ removed: [] });
    expect(await refused("GET", "/v1/usage?group=a%2Fb")).toBe("400 invalid-argument");
    expect(await refused("GET", "/v1/pools?group=a%2Fb")).toBe("400 invalid-argument");
    for (const method of ["GET", "DELETE"]) {
      expect(await refused(method, "/v1/pools/py")).toBe("404 unknown-pool");
      expect(await refused(method, "/v1/pools/py?group=..")).toBe("400 invalid-argument");
    }
    expect(await refused("DELETE", "/v1/pools/py", undefined, read)).toBe("403 read-only");
    expect(await refused("POST", "/v1/pools/py/run")).toBe("426 upgrade-required");
    expect(await refused("POST", "/v1/pools/py/run", undefined, read)).toBe("403 read-only");
    expect(await refused("DELETE", "/v1/tasks/web", undefined, read)).toBe("403 read-only");
    for (const path of ["/v1/tasks/web", "/v1/tasks/web/detail"]) {
      expect(await refused("GET", `${path}?group=a%2Fb`)).toBe("400 invalid-argument");
    }
    expect(await refused("DELETE", "/v1/tasks/web?group=..")).toBe("400 invalid-argument");
    expect(await refused("GET", "/v1/tasks/web/logs")).toBe("404 unknown-task");
    expect(await refused("GET", "/v1/tasks/web/logs?tail=x")).toBe("400 invalid-argument");
    expect(await refused("GET", "/v1/events?after=-1")).toBe("400 invalid-argument");
    // Nothing is there after all that.
    expect((await ask("GET", "/v1/tasks")).value).toEqual({ tasks: [] });
    expect(scene.list()).toEqual([]);

    const pool = { kind: "Pool", name: "py", rootfs: scene.rootfs(), size: 1, command: "/bin/true", env: { TOKEN: SECRET } };
    expect((await ask("POST", "/v1/plan", { text: JSON.stringify(pool) })).value.tasks).toMatchObject([
      { kind: "pool", change: "created" },
    ]);
    expect((await ask("POST", "/v1/apply", { text: JSON.stringify(pool) })).value.applied).toMatchObject([{ kind: "pool", name: "py" }]);
    expect((await ask("GET", "/v1/pools/py")).value.spec.env).toEqual({ TOKEN: SECRET });
    expect((await ask("GET", "/v1/pools/py", undefined, read)).value.spec.env).toEqual({ TOKEN: null });
    expect((await ask("GET", "/v1/pools?group=default")).value.pools).toHaveLength(1);
    expect((await ask("DELETE", "/v1/pools/py?kill=true")).value).toEqual({ name: "py" });
    await until(async () => (await http(scene.socket, "GET", "/v1/pools/py")).status === 404);

    expect((await ask("POST", "/v1/apply", { text: secretTask() })).value.applied).toMatchObject([{ name: "web", change: "created" }]);
    // What is in the file without the secret, and what is not in it.
    const planned = (await ask("POST", "/v1/plan", { text: `${webTask(scene.rootfs(), "other")}---\n${webTask(scene.rootfs())}` })).value
      .tasks;
    expect(planned.map(({ name, change }: { name: string; change: string }) => [name, change])).toEqual([
      ["other", "created"],
      ["web", "replaced"],
    ]);
    expect(planned[1].fields).toContainEqual({ pointer: "/containers/0/env/TOKEN", before: SECRET });
    await until(async () => (await ask("GET", "/v1/tasks/web")).value.known === "RUNNING");
    const { id, containers } = (await ask("GET", "/v1/tasks/web")).value;
    expect((await ask("GET", `/v1/tasks/${id}`)).value.containers.map((one: { id: string }) => one.id)).toEqual(
      scene
        .list()
        .map((one) => one.id)
        .sort((a, b) => containers.findIndex((c: { id: string }) => c.id === a) - containers.findIndex((c: { id: string }) => c.id === b)),
    );
    expect((await ask("GET", "/v1/tasks/web/detail")).status).toBe(200);
    expect(await refused("GET", "/v1/tasks/web/logs")).toBe("404 unknown-container");
    for (const socket of [scene.socket, read])
      expect((await ask("GET", "/v1/tasks/web/logs?container=app&format=records", undefined, socket)).status).toBe(200);
    const { usage } = (await ask("GET", "/v1/usage")).value;
    expect(usage.map((one: { container: string }) => one.container)).toEqual(["db", "app"]);
    // At least the shell that runs in each.
    for (const { processes, memoryBytes } of usage) expect([processes >= 1, memoryBytes > 10_000]).toEqual([true, true]);
    expect((await ask("POST", "/v1/tasks/web/start")).status).toBe(202);
    expect((await ask("POST", "/v1/tasks/web/restart", { containers: ["app"] })).status).toBe(202);
    expect(await refused("POST", "/v1/tasks/web/restart", { containers: ["none"] })).toBe("404 unknown-container");
    expect(await refused("POST", "/v1/tasks/web/rollback")).toBe("409 nothing-to-roll-back");
    // Streams have a test of their own; here their refusals.
    for (const stream of ["exec", "attach", "forward?port=80"]) {
      expect(await refused("GET", `/v1/tasks/web/${stream}`)).toBe("426 upgrade-required");
      expect(await refused("GET", `/v1/tasks/web/${stream}`, undefined, read)).toBe("403 read-only");
    }
    expect((await ask("POST", "/v1/apply", { text: webTask(scene.rootfs()) })).value.applied).toMatchObject([{ change: "replaced" }]);
    expect((await ask("POST", "/v1/tasks/web/rollback")).status).toBe(202);
    expect((await ask("POST", "/v1/restart", { names: ["web"] })).value).toMatchObject({ tasks: [{ name: "web" }], stopped: [] });
    expect((await ask("POST", "/v1/tasks/web/stop")).status).toBe(202);
    expect((await ask("POST", "/v1/stop", { names: ["web"] })).value.tasks.map((one: { name: string }) => one.name)).toContain("web");
    const text = webTask(scene.rootfs(), "nobody");
    expect((await ask("POST", "/v1/delete", { text, volumes: true })).value).toEqual({
      ...{ tasks: [], pools: [], forgotten: [], volumes: [] },
      ...{ missing: ["nobody"], others: ["web"] },
    });
    expect((await ask("DELETE", "/v1/tasks/web")).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/web")).status === 404);
    // A rollout takes the time of `monitor` at least.
    const rolled = { text: `update: {}\n${webTask(scene.rootfs())}`, group: "rolled" };
    expect((await ask("POST", "/v1/apply", rolled)).value.applied).toMatchObject([{ service: "web", revision: 1 }]);
    const asked = async (action: string, body?: unknown) =>
      (await ask("POST", `/v1/rollouts/web/${action}?group=rolled`, body)).value.revision;
    expect([await asked("restart"), await asked("pause"), await asked("resume")]).toEqual([2, 2, 2]);
    const other = { ...rolled, text: rolled.text.replaceAll("sleep 0.05", "sleep 0.06") };
    expect((await ask("POST", "/v1/apply", other)).value.applied).toMatchObject([{ change: "rolling", revision: 3 }]);
    expect(await asked("undo", { revision: 1 })).toBe(4);
    expect(await asked("scale", { replicas: 1 })).toBe(4);
    expect((await ask("GET", "/v1/rollouts/web?group=rolled", undefined, read)).value).toMatchObject({ revision: 4 });
    expect((await ask("GET", "/v1/rollouts")).value.services).toHaveLength(1);
    expect((await ask("DELETE", "/v1/tasks/web?group=rolled")).status).toBe(202);
    for (const { data } of await eventsOf(read, 0)) expect([data, contract.eventObjection(data)]).toEqual([data, undefined]);

    // An internal error, a full disk, 128 streams at once and whatever needs a second process are other tests' affair.
    const elsewhere =
      / (?:101|409|429|500|503)$|^(?:execInTask|attachToTask|forwardPort) (?:400|404)|^(?:getNode|listTasks|listRollouts|listOrphans|listImages|listInterfaces|getMetrics|getInterface) 400$|^runInPool (?:400|404)$|^followEvents (?:200|429)$|^(?:inspectImage|tagImage|loginToRegistry|getRegistryUser) 200$/;
    expect([...contract.promised].filter((one) => !contract.seen.has(one) && !elsewhere.test(one))).toEqual([]);
  });

  test("what may be a secret, as values of environments and headers of checks, is told on the admin socket, and on no other way", async () => {
    const daemon = await scene.daemon();
    await http(scene.socket, "POST", "/v1/apply", { text: secretTask() });
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).known === "RUNNING");
    expect((await http(scene.socket, "GET", "/v1/tasks/web/detail")).text).toContain(SECRET);
    const readable = ["/v1/tasks", "/v1/tasks/web", "/v1/tasks/web/detail", "/v1/node", "/v1/metrics"];
    for (const path of readable) expect([path, (await http(read, "GET", path)).text.includes(SECRET)]).toEqual([path, false]);
    expect(JSON.parse((await http(read, "GET", "/v1/tasks/web/detail")).text).spec.containers[0].env).toEqual({ TOKEN: null });
    expect(JSON.stringify(await eventsOf(read, 0))).not.toContain(SECRET);
    expect(daemon.log()).not.toContain(SECRET);
  });

  test("each change is recorded with the user and the process that has asked, as the kernel knows them", async () => {
    await scene.daemon();
    // As another user, who may connect: the kernel's word counts, not the client's.
    execFileSync("chmod", ["666", scene.socket]);
    const uid = 54_321;
    const body = JSON.stringify({ text: webTask(scene.rootfs()) });
    const client = `const r = require("http").request({ socketPath: ${JSON.stringify(scene.socket)}, method: process.argv[1], path: process.argv[2], headers: { "content-type": "application/json" } }, (a) => a.resume());
      r.end(process.argv[3]); console.log(process.pid);`;
    const asUser = (...args: string[]) =>
      Number(
        execFileSync("setpriv", [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", process.execPath, "-e", client, ...args], {
          encoding: "utf8",
        }),
      );
    const applied = asUser("POST", "/v1/apply", body);
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/web")).text.includes('"known":"RUNNING"'));
    const changes = ["restart", "stop"].map((action) => [action, asUser("POST", `/v1/tasks/web/${action}`, "{}")]);
    const deleted = asUser("DELETE", "/v1/tasks/web", "");
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/web")).status === 404);
    const requests = (await eventsOf(read, 0))
      .filter(({ data }) => data["type"] === "request")
      .map(({ data }) => [data["request"], data["by"]]);
    expect(requests).toEqual([
      ["apply", { uid, pid: applied }],
      ...changes.map(([action, pid]) => [action, { uid, pid }]),
      ["delete", { uid, pid: deleted }],
    ]);
  });

  test("E8 metrics: each counter grows with its events, and the text follows promtool's grammar", async () => {
    await scene.daemon();
    const metrics = async () => (await http(read, "GET", "/v1/metrics")).text;
    const value = (text: string, name: string) =>
      Number(new RegExp(`^${name.replace(/[{}"]/g, "\\$&")} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
    const before = await metrics();
    await http(scene.socket, "POST", "/v1/apply", { text: webTask(scene.rootfs()) });
    await http(scene.socket, "GET", "/v1/tasks");
    const after = await metrics();
    const grown = (name: string) => value(after, name) - value(before, name);
    expect(grown('runtd_request_seconds_count{operation="applyFile"}')).toBe(1);
    expect(grown('runtd_request_seconds_count{operation="listTasks"}')).toBe(1);
    expect(grown('runtd_request_seconds_sum{operation="applyFile"}')).toBeGreaterThan(0);
    expect(grown("runtd_events_total")).toBeGreaterThan(0);
    for (const line of after.trimEnd().split("\n"))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+)$/);
    // A launch that is cut off leaves a cgroup, which the next daemon removes; here there is none.
    await until(async () => JSON.parse((await http(read, "GET", "/v1/tasks/web")).text).known === "RUNNING");
  });
});
