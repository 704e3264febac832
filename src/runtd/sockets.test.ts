/** Sockets of other daemons at the path of this one. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listenOn } from "./sockets.ts";

let directory = "";
let path = "";
let other: ChildProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-sockets-"));
  path = join(directory, "admin.sock");
});
afterEach(() => {
  other?.kill("SIGKILL");
  other = undefined;
  rmSync(directory, { recursive: true });
});

const listen = async () => {
  const server = createServer();
  const remove = await listenOn(server, { path, mode: 0o600, group: undefined });
  return { server, remove };
};

/** A process that listens at the path. */
async function listener(): Promise<ChildProcess> {
  other = spawn(process.execPath, ["-e", `require("net").createServer().listen(${JSON.stringify(path)}, 1, () => console.log())`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(other.stdout!, "data");
  return other;
}

test("goes with its server, with the mode that it was given, and nothing is left beside it", async () => {
  const { server, remove } = await listen();
  expect([lstatSync(path).mode & 0o777, readdirSync(directory)]).toEqual([0o600, ["admin.sock"]]);
  server.close();
  remove();
  expect(readdirSync(directory)).toEqual([]);
});

test("one that a later daemon has made meanwhile stays", async () => {
  const { server, remove } = await listen();
  rmSync(path);
  await listener();
  server.close();
  remove();
  expect(existsSync(path)).toBe(true);
  const socket = connect(path);
  await once(socket, "connect");
  socket.destroy();
});

test("one whose process was killed is replaced; a file is left alone", async () => {
  const killed = await listener();
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const { server, remove } = await listen();
  server.close();
  remove();
  writeFileSync(path, "precious");
  await expect(listen()).rejects.toThrow("is left alone");
});

test("one whose process is stopped is in use, also when its queue is full", async () => {
  const stopped = await listener();
  stopped.kill("SIGSTOP");
  const waiting = Array.from({ length: 16 }, () => connect(path).on("error", () => {}));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(listen()).rejects.toThrow("another daemon answers there");
  for (const one of waiting) one.destroy();
});
