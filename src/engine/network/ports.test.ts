import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkPort, holderOf, inodesIn } from "./ports.ts";

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:46A1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0000000000000000 100 0 0 10 0
   1: 0100007F:46A1 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0000000000000000 100 0 0 10 0
   2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0000000000000000 100 0 0 10 0
`;

test("only sockets that listen at the port", () => {
  expect(inodesIn(TABLE, { port: 18081, protocol: "tcp" })).toEqual(["111"]);
  expect(inodesIn(TABLE, { port: 80, protocol: "tcp" })).toEqual(["333"]);
  expect(inodesIn(TABLE, { port: 0x9999, protocol: "tcp" })).toEqual([]);
  expect(inodesIn(TABLE, { port: 80, protocol: "udp" })).toEqual([]);
});

test("this process, with TCP and UDP; nobody has a port that was closed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  expect(await holderOf({ port, protocol: "tcp" })).toMatchObject({ pid: process.pid });
  server.close();
  await once(server, "close");
  expect(await holderOf({ port, protocol: "tcp" })).toBeUndefined();
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  expect(await holderOf({ port: socket.address().port, protocol: "udp" })).toMatchObject({ pid: process.pid });
});

test("tasks of one service that are made at once do not find each other's look at their port", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const look = () => checkPort({ port, protocol: "tcp", address: "127.0.0.1" });
  await expect(look()).rejects.toMatchObject({ code: "port-taken" });
  server.close();
  await once(server, "close");
  await Promise.all(Array.from({ length: 20 }, look));
});

/** Has as many descriptors before its socket, and prints the port. */
const HOLDER = `const { openSync } = require("node:fs"); for (let n = 0; n < 3000; n++) openSync("/dev/null");
const server = require("node:net").createServer().listen(0, "127.0.0.1", () => console.log(server.address().port));`;

test("who has a port is looked for as long as its message is worth, and keeps no other from its port", async () => {
  const child = spawn(process.execPath, ["-e", HOLDER], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
  expect(await holderOf({ port, protocol: "tcp" }, 0)).toBeUndefined();
  const order: string[] = [];
  const taken = checkPort({ port, protocol: "tcp", address: "127.0.0.1" }).catch(({ code }) => order.push(code));
  const free = checkPort({ port: 0, protocol: "tcp", address: "127.0.0.1" }).then(() => order.push("free"));
  await Promise.all([taken, free]);
  expect(order).toEqual(["free", "port-taken"]);
});
