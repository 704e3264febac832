/** What connects to ports of a pod in a virtual machine: its probes and hooks, and runtctl port-forward. Its loopback is in the machine. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { machineMissing, programs, VM_TIMEOUT } from "../support/vm.ts";
import { RUNTCTL } from "./client-programs.ts";
import { useMachines } from "./machines.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { sharedIn, until, useEngine } from "./support.ts";

const missing = machineMissing();

/** A machine that is emulated takes its time to begin a process. */
const OFTEN = { periodSeconds: 1, failureThreshold: 100, timeoutSeconds: 60 };
/** Servers on loopback only: of files and scripts, and of what it is sent. */
const SERVERS = [
  "mkdir -p /tmp/web/cgi-bin",
  "printf '#!/bin/sh\\ntouch /v/stopped; echo; echo gone\\n' >/tmp/web/cgi-bin/stop",
  "chmod 755 /tmp/web/cgi-bin/stop",
  "busybox httpd -p 127.0.0.1:80 -h /tmp/web",
  "busybox nc -ll -p 7 -e cat & echo up",
].join("; ");

describe.skipIf(missing !== undefined)(`connections to machines${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const scene = useEngine();
  const { options, pod, apply, status, reaches, isReady, said, logs, containerOf, deleted } = useMachines(scene);
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** A client that leads ports of this host there. `port`: that of this host. */
  async function forwarding(name: string, ...ports: number[]) {
    const [program = "", ...words] = [...RUNTCTL, "-s", scene.socket, "port-forward", name, ...ports.map((port) => `:${port}`)];
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
    closing.push(() => child.kill("SIGKILL"));
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
    await until(() => (text.match(/->/g) ?? []).length === ports.length);
    return { text: () => text, port: (remote: number) => Number(new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${remote}\n`).exec(text)![1]) };
  }
  const dialled = (port: number) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {});
    closing.push(() => socket.destroy());
    return { socket, received: () => Buffer.concat(chunks), closed: new Promise((resolve) => socket.once("close", resolve)) };
  };
  /** Processes in the machine that make connections for others, or have made them: its first process waits for no child. */
  const relays = () => said("web", "a", "ps | grep -c '[r]unt-pause'");

  test("probes and hooks by HTTP and TCP, and port-forward, reach what listens on its loopback", async () => {
    const first = await scene.daemon(options());
    const shared = sharedIn(scene, "stopped");
    const server = {
      ...{ name: "a", script: `${SERVERS}; exec sleep 100000`, volumeMounts: [{ name: "v", mountPath: "/v" }] },
      startupProbe: { tcpSocket: { port: 80 }, ...OFTEN },
      readinessProbe: { httpGet: { port: 80, path: "/ready" }, ...OFTEN },
      lifecycle: { preStop: { httpGet: { port: 80, path: "/cgi-bin/stop" } } },
    };
    const volumes = [{ name: "v", hostPath: { path: shared.directory } }];
    await apply(pod("web", [server], { volumes, terminationGracePeriodSeconds: 60 }));
    await reaches("web", "Running");
    expect(scene.list()).toHaveLength(1);
    const machine = programs({ pid: containerOf("a-").pid });
    await until(async () => (await scene.ctl("describe", "web")).stdout.includes("404 Not Found"), VM_TIMEOUT);
    expect(await isReady("web")()).toBe(false);
    await said("web", "a", "touch /tmp/web/ready");
    await until(isReady("web"), VM_TIMEOUT);

    const { port, text } = await forwarding("web", 7, 9);
    const sent = Buffer.alloc(512 << 10, "0123456789abcde\n");
    const echo = dialled(port(7));
    echo.socket.end(sent);
    await echo.closed;
    expect(echo.received().equals(sent)).toBe(true);
    for (let round = 1; round <= 5; round++) {
      const nobody = dialled(port(9));
      nobody.socket.end();
      await nobody.closed;
      await until(() => (text().match(/port 9: .*connect to 127\.0\.0\.1: Connection refused/g) ?? []).length === round);
    }

    // Whoever goes away, the client or the daemon, leaves no process in the machine.
    const leaving = dialled(port(7));
    leaving.socket.write("hello\n");
    await until(() => leaving.received().toString() === "hello\n");
    leaving.socket.destroy();
    await until(async () => (await relays()) === "0", VM_TIMEOUT);
    const staying = dialled(port(7));
    staying.socket.write("hello\n");
    await until(() => staying.received().toString() === "hello\n");
    await first.kill();
    await scene.daemon(options());
    await until(async () => (await relays()) === "0", VM_TIMEOUT);
    await until(isReady("web"), VM_TIMEOUT);
    expect(await status("web")).toMatchObject({ phase: "Running", containerStatuses: [{ restartCount: 0 }] });

    await deleted("web", machine);
    expect(existsSync(join(shared.directory, "stopped"))).toBe(true);
  });

  describe.skipIf(noNetworks !== undefined)(`with a network${noNetworks ? ` (${noNetworks})` : ""}`, () => {
    const host = useNetworkHost(scene);

    test("behind a bridge, where the containers of a pod share the machine: by HTTP and gRPC, and port-forward", async () => {
      await host.daemon(options());
      await host.serve(process.execPath, "-e", HEALTH);
      const web = { name: "a", script: `${SERVERS}; exec sleep 100000`, readinessProbe: { httpGet: { port: 80, path: "/" }, ...OFTEN } };
      const gateway = "$(busybox ip route | busybox sed -n 's/^default via \\([0-9.]*\\) .*/\\1/p')";
      const grpc = {
        ...{ name: "b", script: `busybox nc -ll -p 9000 -e busybox nc ${gateway} 9001 & echo up; exec sleep 100000` },
        ...{ ports: [{ containerPort: 9000, hostPort: 18_086 }], readinessProbe: { grpc: { port: 9000, service: "shop" }, ...OFTEN } },
      };
      await apply(pod("web", [web, grpc]));
      await reaches("web", "Running");
      const machine = programs({ pid: containerOf("runtd-pause").pid });
      await until(async () => (await logs("web", "b")) === "up\n");
      await until(async () => (await scene.ctl("describe", "web")).stdout.includes("404 Not Found"), VM_TIMEOUT);
      const ready = async () => (await status("web")).containerStatuses.map((one: { ready: boolean }) => one.ready).join();
      await until(async () => (await ready()) === "false,true", VM_TIMEOUT);
      await said("web", "a", "touch /tmp/web/index.html");
      await until(isReady("web"), VM_TIMEOUT);
      const { port } = await forwarding("web", 7);
      const echo = dialled(port(7));
      echo.socket.end("hello\n");
      await echo.closed;
      expect(echo.received().toString()).toBe("hello\n");
      await deleted("web", machine);
      await until(async () => (await host.left()).length === 0);
    });
  });
});

/** For Node, on the host: a service that says that it is SERVING. */
const HEALTH = `
const server = require("node:http2").createServer();
server.on("stream", (stream) => stream.resume().on("end", () => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
}));
server.listen(9001, () => console.log("up"));
`;
