/** Clients that are slow, many, large or odd: the daemon answers the others, and no task waits for them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { http, isRoot, scriptTask, until, useEngine, webTask } from "./support.ts";

/** Of 256, for one client. */
const MOST_OF_ONE = 128;

/** Another process, which says with which status it is answered. */
const SUBSCRIBER = `require("node:http").get({ socketPath: process.argv[1], path: "/v1/events" }, (response) => process.stdout.write(String(response.statusCode)))`;

describe.skipIf(!isRoot)("hostile clients (needs root)", () => {
  const scene = useEngine();
  const read = join(scene.directory, "run/read.sock");
  const residentKiB = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  const answered = async () =>
    (await http(scene.socket, "GET", "/v1/node")).status === 200 && (await http(read, "GET", "/v1/node")).status === 200;

  /** Head of the answer, as it was sent. */
  function raw(text: string): { readonly socket: Socket; received(): string; readonly closed: Promise<void> } {
    const socket = connect(read);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => {});
    socket.write(text);
    return { socket, received: () => received, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
  }

  test("E29 a subscriber that reads nothing blocks no task, uses no memory, and continues from its number", async () => {
    const daemon = await scene.daemon();
    const sleeper = connect(read);
    sleeper.write("GET /v1/events?after=0 HTTP/1.1\r\nHost: x\r\n\r\n");
    sleeper.pause();
    const before = residentKiB(daemon.pid);
    for (let round = 0; round < 6; round++) {
      const text = Array.from({ length: 8 }, (_, index) => scriptTask(scene.rootfs(), { name: `t${round}-${index}`, script: "true" })).join(
        "",
      );
      expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
      await until(async () =>
        JSON.parse((await http(read, "GET", "/v1/tasks")).text).tasks.every(({ known }: { known: string }) => known === "STOPPED"),
      );
    }
    expect(residentKiB(daemon.pid) - before).toBeLessThan(60_000);
    const { lastSequence } = JSON.parse((await http(read, "GET", "/v1/node")).text);
    let text = "";
    sleeper.on("data", (chunk) => {
      text += chunk;
    });
    sleeper.resume();
    await until(() => text.includes(`id: ${lastSequence}\n`));
    const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
    // More may have come about since that one was the last.
    expect(numbers.length).toBeGreaterThanOrEqual(lastSequence);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    sleeper.destroy();
  });

  test("E29 too many subscribers are refused; other clients get answers, and the place of a subscriber that leaves is free again", async () => {
    await scene.daemon();
    const open: ClientRequest[] = [];
    const subscribe = () =>
      new Promise<number>((resolve, reject) => {
        const call = request({ socketPath: read, path: "/v1/events", agent: false }, (response: IncomingMessage) => {
          response.on("error", () => {});
          resolve(response.statusCode!);
        });
        call.on("error", reject);
        call.end();
        open.push(call);
      });
    const statuses: number[] = [];
    for (let count = 0; count < MOST_OF_ONE + 40; count++) statuses.push(await subscribe());
    expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 429).length]).toEqual([MOST_OF_ONE, 40]);
    expect(await answered()).toBe(true);
    // There is room for others.
    const other = spawn(process.execPath, ["-e", SUBSCRIBER, read], { stdio: ["ignore", "pipe", "inherit"] });
    const [status] = (await once(other.stdout, "data")) as [Buffer];
    other.kill("SIGKILL");
    expect(status.toString()).toBe("200");
    for (const call of open) call.destroy();
    await until(async () => (await subscribe()) === 200);
    for (const call of open) call.destroy();
  });

  test("more readers of a log than there is room for are refused, and a place that is left is free again", async () => {
    await scene.daemon();
    const text = scriptTask(scene.rootfs(), { name: "web", script: "echo begun; exec sleep 1000" });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
    await until(async () => (await http(read, "GET", "/v1/tasks/web/logs")).text === "begun\n");
    const path = "/v1/tasks/web/logs?follow=true";
    const follow = async () => {
      const one = raw(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await until(() => one.received().includes("begun") || one.received().includes("too-many"));
      return one;
    };
    const open: Awaited<ReturnType<typeof follow>>[] = [];
    for (let count = 0; count < MOST_OF_ONE; count++) open.push(await follow());
    expect(open.filter((one) => one.received().includes("begun"))).toHaveLength(MOST_OF_ONE);
    expect((await http(read, "GET", path)).status).toBe(429);
    expect((await http(read, "GET", "/v1/tasks/web/logs")).status).toBe(429);
    expect(await answered()).toBe(true);
    for (const { socket } of open) socket.destroy();
    await until(async () => (await http(read, "GET", "/v1/tasks/web/logs")).status === 200);
  });

  test("a body that is too large, one that never comes, a head without an end, and a client that closes half of its connection", async () => {
    await scene.daemon();
    expect((await http(scene.socket, "POST", "/v1/apply", { text: "x".repeat(5 << 20) })).status).toBe(413);
    const half = raw("GET /v1/node HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    half.socket.end();
    await half.closed;
    expect(half.received()).toMatch(/^HTTP\/1\.1 200 /);
    const slow = raw("GET /v1/node HTTP/1.1\r\nHost: x\r\n");
    const large = raw(`GET /v1/node HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(40_000)}\r\n\r\n`);
    await large.closed;
    expect(large.received()).toMatch(/^HTTP\/1\.1 431 /);
    expect(await answered()).toBe(true);
    await slow.closed;
    expect(slow.received()).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
  });

  test.each(["%2e%2e%2f%2e%2e%2fetc", "%00", "a%ff", "%E2%98%83", "x".repeat(2_000), "__proto__", "constructor", "a b", "%"])(
    "the odd name %j is one that nobody has",
    async (name) => {
      await scene.daemon();
      await http(scene.socket, "POST", "/v1/apply", { text: webTask(scene.rootfs()) });
      for (const path of [`/v1/tasks/${name.replace(" ", "%20")}`, `/v1/tasks/${name.replace(" ", "%20")}/detail`]) {
        expect([400, 404]).toContain((await http(scene.socket, "GET", path)).status);
      }
      expect([400, 404]).toContain((await http(scene.socket, "DELETE", `/v1/tasks/${name.replace(" ", "%20")}`)).status);
      expect(JSON.parse((await http(read, "GET", "/v1/tasks")).text).tasks).toHaveLength(1);
    },
  );
});
