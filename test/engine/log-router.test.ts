/** Log routers: containers that get what others print, seen by what the router itself receives. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { program } from "../support/programs.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

const SECRET = "router-secret-71c9";
const SOCKET = "/run/log-router/router.sock";

interface Record {
  readonly tag: string;
  readonly container: string;
  readonly line: string;
}

function framesIn(bytes: Buffer): Record[] {
  const found: Record[] = [];
  for (let at = 0; at + 4 <= bytes.length && at + 4 + bytes.readUInt32BE(at) <= bytes.length; at += 4 + bytes.readUInt32BE(at))
    found.push(JSON.parse(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at)).toString()));
  return found;
}

const copyListener = (rootfs: string) => copyFileSync(program("unixserve"), join(rootfs, "unixserve"));
const ADDRESS = `echo at $FLUENT_HOST:$FLUENT_PORT; ${SLEEP}`;

describe.skipIf(!isRoot)("log routers (needs root)", () => {
  const scene = useEngine();
  const apply = (text: string) => http(scene.socket, "POST", "/v1/apply", { text });
  const router = (shared: string, script: string) => ({
    ...{ name: "router", script },
    fields: { logRouter: true, mounts: [{ source: shared, target: "/shared" }], stopSignal: "SIGKILL" },
  });

  test("E52 E53 E54: a router gets the lines of its task with their tags, the settings of each sender and its secrets; the sender knows its address", async () => {
    await scene.daemon();
    copyListener(scene.rootfs());
    const shared = sharedIn(scene, "router");
    const secret = scene.file("secret", SECRET);
    const script = `cp /etc/log-router/config.json /shared/; cat /etc/log-router/secrets/* > /shared/secret; echo router >> /shared/order; exec /unixserve ${SOCKET} >> /shared/received`;
    const log = { router: "router", options: { Name: "file" }, secretOptions: { token: "t" } };
    const text = taskText(
      scene.rootfs(),
      "t",
      [
        {
          name: "app",
          script: `echo app >> /shared/order; ${ADDRESS}`,
          fields: { log, mounts: [{ source: shared.directory, target: "/shared" }] },
        },
        router(shared.directory, script),
      ],
      { namespaces: { network: "shared" }, secrets: [{ name: "t", file: secret }] },
    );
    expect((await apply(text)).text).toContain("created");
    const received = () =>
      existsSync(join(shared.directory, "received")) ? framesIn(readFileSync(join(shared.directory, "received"))) : [];
    await until(() => received().length === 1);
    expect(received()[0]).toMatchObject({ tag: "app-firelens-t", container: "app", line: "at 127.0.0.1:24224" });
    const config = JSON.parse(readFileSync(join(shared.directory, "config.json"), "utf8"));
    const secretOptions = { token: "/etc/log-router/secrets/0.token" };
    expect(config).toEqual({
      socket: SOCKET,
      port: 24_224,
      containers: [{ name: "app", tag: "app-firelens-t", options: { Name: "file" }, secretOptions }],
    });
    expect(readFileSync(join(shared.directory, "secret"), "utf8")).toBe(SECRET);
    expect(readFileSync(join(shared.directory, "order"), "utf8")).toBe("router\napp\n");
    // A new incarnation of the router listens on the same path, and gets what comes then.
    await scene.ctl("restart", "t", "-c", "router");
    await until(() => readFileSync(join(shared.directory, "order"), "utf8") === "router\napp\nrouter\n");
    await scene.ctl("restart", "t", "-c", "app");
    await until(() => received().length === 2);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await until(() => !existsSync(join(scene.stateDir, "log-routers/default.t.1")));
    for (const name of ["tasks", "logs", "executors"]) expect(grepped(join(scene.stateDir, name))).toBe("");
  });

  test("E53: if a router replaces its socket by a link, no line is delivered elsewhere on the host", async () => {
    await scene.daemon();
    const path = join(scene.directory, "other.sock");
    let connections = 0;
    const other = createServer(() => connections++);
    await new Promise<void>((ready) => other.listen(path, ready));
    chmodSync(path, 0o777);
    try {
      const shared = sharedIn(scene, "link");
      const script = `ln -s ${path} ${SOCKET}; touch /shared/linked; ${SLEEP}`;
      const app = { name: "app", script: `while [ ! -e /shared/linked ]; do sleep 0.1; done; ${ADDRESS}` };
      const fields = { log: { router: "router" }, mounts: [{ source: shared.directory, target: "/shared" }] };
      await apply(
        taskText(scene.rootfs(), "t", [{ ...app, fields }, router(shared.directory, script)], { namespaces: { network: "shared" } }),
      );
      const { log } = (await taskOf(scene, "t")).containers.find(({ name }: { name: string }) => name === "app");
      await until(() => existsSync(log) && allPrinted(log).includes("at 127.0.0.1"));
      // Longer than the longest wait between two attempts.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(connections).toBe(0);
      expect((await scene.ctl("delete", "t")).status).toBe(0);
    } finally {
      other.close();
    }
  });

  test("E54: if the router of another task has no address, the container is not made and the reason says so", async () => {
    await scene.daemon();
    const sender = taskText(scene.rootfs(), "t", [{ name: "app", script: ADDRESS, fields: { log: { router: "r/router" } } }]);
    const other = taskText(scene.rootfs(), "r", [{ name: "router", fields: { logRouter: true } }]);
    expect((await apply(`${other}\n---\n${sender}`)).text).toContain("created");
    await until(async () => (await taskOf(scene, "t")).known === "STOPPED");
    expect((await taskOf(scene, "t")).reason).toContain("the log router r/router has no address: its task has no network of its own");
    expect((await taskOf(scene, "t")).containers[0].startedMs).toBeNull();
    for (const name of ["t", "r"]) await scene.ctl("delete", name);
  });
});

function grepped(directory: string): string {
  try {
    return execFileSync("grep", ["-rl", SECRET, directory], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}

describe.skipIf(!isRoot || noNetworks !== undefined)("log routers behind a bridge (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);

  test(
    "E54: behind a bridge the address of another task's router is that of its network: lines reach its socket, and connections its port",
    async () => {
      await host.daemon();
      copyListener(scene.rootfs());
      const shared = sharedIn(scene, "bridge");
      // The input of the listener never ends: the client would take that for the end of the connection, also before it has read what it sends.
      const script = `sleep 1000 | nc -l -p 24224 > /shared/tcp & exec /unixserve ${SOCKET} > /shared/received`;
      const mounts = [{ source: shared.directory, target: "/shared" }];
      const network = { name: "logs" };
      const router = { name: "router", script, fields: { logRouter: true, stopSignal: "SIGKILL", mounts } };
      // A client that gave up after it had connected would have taken the listener's one connection.
      const app = `until echo direct | nc -w 60 $FLUENT_HOST $FLUENT_PORT; do sleep 0.1; done; ${ADDRESS}`;
      const tasks = [
        taskText(scene.rootfs(), "r", [router], { network }),
        taskText(scene.rootfs(), "t", [{ name: "app", script: app, fields: { log: { router: "r/router", tag: "own" } } }], { network }),
      ];
      await http(scene.socket, "POST", "/v1/apply", { text: tasks.join("\n---\n") });
      const file = (name: string) => join(shared.directory, name);
      await until(() => existsSync(file("received")) && framesIn(readFileSync(file("received"))).length === 1);
      const address = (await taskOf(scene, "r")).addresses[0].split("/")[0];
      expect(framesIn(readFileSync(file("received")))).toMatchObject([{ tag: "own", line: `at ${address}:24224` }]);
      // What the listener got may be written after the line of the container that sent it.
      await until(() => readFileSync(file("tcp"), "utf8") === "direct\n");
      for (const name of ["t", "r"]) await scene.ctl("delete", name);
      await until(async () => (await host.left()).length === 0);
    },
    LONGEST_MS,
  );
});
