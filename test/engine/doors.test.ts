/** What comes in by the sockets of the daemon, and is not what its clients send. Nothing of it ends the daemon or keeps others out. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { raw, requestOf } from "./raw-http.ts";
import { http, isRoot, LONGEST_MS, scriptTask, until, useEngine } from "./support.ts";

const UPGRADE = "Host: x\r\nConnection: Upgrade\r\nUpgrade: runtd-stream/1\r\n\r\n";
const SLEEPER = "trap 'exit 0' TERM; while :; do sleep 0.2; done";
/** Of runtd (src/runtd/http/limits.ts). */
const MOST_STREAMS = 128;

describe.skipIf(!isRoot)("the doors (needs root)", () => {
  const scene = useEngine();
  const read = join(scene.directory, "run/read.sock");
  const unexpected = async () => Number(/^runtd_unexpected_errors_total (\d+)$/m.exec((await http(read, "GET", "/v1/metrics")).text)?.[1]);

  test("no target of a request, ordinary or with Upgrade, ends the daemon", async () => {
    await scene.daemon();
    const targets = [
      "//[",
      "//",
      "///",
      "*",
      "/%",
      "/%00",
      "/v1/tasks/%ff/exec",
      "/v1/tasks/%/exec?group=%",
      "/v1/tasks/a%2f..%2fb/attach",
      "http://[/v1/node",
      "http://x:99999999/",
      "http:///v1/node",
      "x:y",
      "/v1/tasks/t/forward?port=1e999",
      "/v1/tasks/t/forward?port=NaN&address=[",
      `/v1/tasks/${"a".repeat(8000)}/exec`,
      "/v1/events?after=1e999",
      "/v1/events?after=-1",
      "/v1/tasks/t/logs?tail=1e999&from=1-99999999999999999999-1-1",
    ];
    for (const socket of [scene.socket, read])
      for (const method of ["GET", "POST", "OPTIONS"])
        for (const target of targets) {
          for (const rest of [UPGRADE, "Host: x\r\nConnection: close\r\n\r\n", "Host: [\r\nConnection: close\r\n\r\n"]) {
            const { status } = await raw(socket, `${method} ${target} HTTP/1.1\r\n${rest}`);
            expect([method, target, rest, status >= 400 && status < 500]).toEqual([method, target, rest, true]);
          }
        }
    // What has no answer of the daemon's own: Node closes these.
    for (const text of ["CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"])
      await raw(scene.socket, text).catch(() => {});
    const expecting = requestOf("POST", "/v1/plan", { text: "x" }, { Expect: "a miracle" });
    expect((await raw(scene.socket, expecting)).status).toBe(417);
    expect(await unexpected()).toBe(0);
    expect((await http(read, "GET", "/v1/node")).status).toBe(200);
  });

  test(
    "connections that send no first frame give their places back, and those that half a first frame has come on, too",
    async () => {
      await scene.daemon();
      const text = scriptTask(scene.rootfs(), { name: "t", script: SLEEPER });
      await http(scene.socket, "POST", "/v1/apply", { text });
      await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).known === "RUNNING");
      const streams = await Promise.all(Array.from({ length: MOST_STREAMS }, (_, index) => opened(scene.socket, index % 2 === 0)));
      expect((await raw(scene.socket, `GET /v1/tasks/t/exec HTTP/1.1\r\n${UPGRADE}`)).status).toBe(429);
      await until(async () => (await scene.ctl("exec", "t", "--", "true")).status === 0);
      await until(() => streams.every(({ destroyed }) => destroyed));
      for (const { received } of streams) expect(received()).toContain("no first frame has come within 10 s");
      expect(await unexpected()).toBe(0);
    },
    LONGEST_MS,
  );

  test(
    "no file and no body takes long of the thread that has the event loop, and the metrics tell how long that is held",
    async () => {
      const { pid } = await scene.daemon();
      const large = 250_000;
      const pod = (env: object[]) =>
        JSON.stringify({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "p" },
          spec: { containers: [{ name: "a", image: "oci:/none:v1", env }] },
        });
      const bomb = Array.from({ length: 7 }, (_, index) => ({
        name: `A${index}`,
        value: index === 0 ? "xxxxxxxxxx" : `$(A${index - 1})`.repeat(10),
      }));
      const texts = [
        ...["{", "[", "- ", "]", "- a\n", "--- a\n", "a: "].map((piece) => piece.repeat(large / piece.length)),
        Array.from({ length: 15_000 }, (_, index) => `key${index}: 1`).join("\n"),
        pod(bomb),
        `a: &a [${"1,".repeat(20_000)}]\nb: [${"*a,".repeat(50)}]\n`,
      ];
      const bodies = [
        ...texts.map((text) => ({ text })),
        ...[19_000, 190_000].map((length) => ({ names: Array.from({ length }, () => 1) })),
      ];
      // The first request loads what it needs.
      await http(scene.socket, "POST", "/v1/plan", { text: "#".repeat(large) });
      for (const body of bodies) {
        const before = ownTimeOf(pid);
        const { status } = await http(scene.socket, "POST", "text" in body ? "/v1/plan" : "/v1/stop", body);
        const seconds = ownTimeOf(pid) - before;
        expect([JSON.stringify(body).slice(0, 60), status >= 400, seconds < 0.25]).toEqual([expect.anything(), true, true]);
      }
      expect((await http(read, "GET", "/v1/metrics")).text).toMatch(/^runtd_event_loop_held_seconds\{quantile="1"\} \d/m);
      expect(await unexpected()).toBe(0);
    },
    LONGEST_MS,
  );

  test(
    "who was refused and keeps the connection open is cut off",
    async () => {
      await scene.daemon();
      const sockets = [scene.socket, read].map((path) => {
        // It never ends its own side.
        const socket = connect({ path, allowHalfOpen: true });
        socket.write(`GET /v1/tasks/none/exec HTTP/1.1\r\n${UPGRADE}`);
        return socket.resume();
      });
      await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("end", resolve))));
      await until(() => connectionsOf(scene.socket) + connectionsOf(read) === 0);
      for (const socket of sockets) socket.destroy();
    },
    LONGEST_MS,
  );

  test(
    "who asks for much and reads nothing of it is cut off",
    async () => {
      await scene.daemon();
      const socket = connect(read);
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.on("error", () => {});
      // More than the buffers of the kernel hold.
      const asked = "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50);
      socket.pause();
      socket.write(asked);
      // A socket that is not read does not see its end: the connections of the daemon are looked at.
      const isOpen = () => connectionsOf(read) > 0;
      await until(isOpen);
      await until(() => !isOpen());
      socket.destroy();
    },
    LONGEST_MS,
  );

  test(
    "what a client sends before its program runs waits with the client",
    async () => {
      await scene.daemon();
      const text = scriptTask(scene.rootfs(), { name: "t", script: SLEEPER });
      await http(scene.socket, "POST", "/v1/apply", { text });
      await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).known === "RUNNING");
      const stream = await opened(scene.socket, false);
      const start = JSON.stringify({ command: ["sh", "-c", "wc -c"], stdin: true });
      const piece = Buffer.alloc(1 << 20, "x");
      stream.socket.write(Buffer.concat([frame(0, Buffer.from(start)), ...Array.from({ length: 20 }, () => frame(1, piece)), frame(2)]));
      await until(() => stream.received().includes(`${20 << 20}\n`));
      await until(() => stream.destroyed);
    },
    LONGEST_MS,
  );
});

/**
 * Seconds of a processor that the first thread of a process has had, which is the one with the event loop: proc_pid_schedstat(5). Unlike the time of a clock it does not
 * depend on what else the host does.
 */
function ownTimeOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e9;
}

/** Of a unix socket, those that were accepted: proc_pid_net(5), state 3. */
/** The kernel names a socket as it was bound (src/runtd/sockets.ts renames it then). */
function connectionsOf(path: string): number {
  const lines = readFileSync("/proc/self/net/unix", "utf8")
    .split("\n")
    .filter((line) => line.endsWith(` ${path}~`));
  expect(lines.length).toBeGreaterThan(0);
  return lines.filter((line) => line.split(" ")[5] === "03").length;
}

function frame(kind: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head[0] = kind;
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

interface Opened {
  readonly socket: Socket;
  received(): string;
  readonly destroyed: boolean;
}

/** A connection for exec that was upgraded. @param isBegun its first frame has begun, too */
function opened(path: string, isBegun: boolean): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    const stream: Opened = {
      socket,
      received: () => text,
      get destroyed() {
        return socket.destroyed;
      },
    };
    socket.on("data", (chunk) => {
      text += chunk;
      if (!text.startsWith("HTTP/1.1 101")) return;
      if (isBegun) socket.write(Buffer.from([0, 0, 0, 1, 0]));
      resolve(stream);
    });
    socket.once("error", reject);
    socket.write(`GET /v1/tasks/t/exec HTTP/1.1\r\n${UPGRADE}`);
  });
}
