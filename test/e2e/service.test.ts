/** `runt service`: system calls for a daemon that cannot make them. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { isRunt } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const RUNT = join(REPOSITORY, "bin/runt");

/** A manager that has one datagram, and then closes what comes with the barrier, at once or late. */
const MANAGER = `
import array, os, socket, sys, time
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
print("bound", flush=True)
print(repr(server.recv(4096)), flush=True)
data, ancillary, _, _ = server.recvmsg(4096, 1024)
print(repr(data), len(ancillary), flush=True)
if sys.argv[2] == "late": time.sleep(7)
`;

describe.skipIf(!isRunt)("runt service", () => {
  test("peer names the process that has connected", async () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-service-"));
    try {
      const path = join(directory, "socket");
      const told = new Promise<string>((resolve, reject) => {
        const server = createServer((socket) => {
          const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
          const child = spawn(RUNT, ["service", "peer"], { stdio: [fd, "pipe", "inherit"] });
          child.stdout!.once("data", (chunk) => resolve(String(chunk)));
          child.once("error", reject);
          server.close();
        }).listen(path);
      });
      const client = execa("python3", [
        "-c",
        `import socket,sys,os\ns = socket.socket(socket.AF_UNIX)\ns.connect(${JSON.stringify(path)})\nprint(os.getpid(), flush=True)\ns.recv(1)`,
      ]);
      const { pid, uid } = JSON.parse(await told);
      expect([pid, uid]).toEqual([client.pid, process.getuid?.()]);
      client.kill();
      await client.catch(() => {});
    } finally {
      rmSync(directory, { recursive: true });
    }
    const none = await execa(RUNT, ["service", "peer"], { stdin: "ignore", reject: false });
    expect([none.exitCode, none.stderr]).toEqual([1, "runt: getsockopt: socket operation on non-socket"]);
  });

  // A busy one looks up late who has sent what it reads, and that one is still there.
  test.each(["close", "late"])("notify sends, and waits until the manager has seen who has sent: %s", async (behaviour) => {
    const directory = mkdtempSync(join(tmpdir(), "runt-service-"));
    try {
      const path = join(directory, "notify");
      const manager = execa("python3", ["-c", MANAGER, path, behaviour]);
      await new Promise<void>((resolve) => manager.stdout!.once("data", () => resolve()));
      const sent = await execa(RUNT, ["service", "notify", "READY=1", "STATUS=it works"], { env: { NOTIFY_SOCKET: path }, reject: false });
      expect(sent.exitCode).toBe(0);
      const { stdout } = await manager;
      expect(stdout).toContain("b'READY=1\\nSTATUS=it works'\nb'BARRIER=1' 1");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("what is wrong is said, and nothing is sent", async () => {
    const refused = async (...words: string[]) =>
      (await execa(RUNT, ["service", ...words], { reject: false, env: { NOTIFY_SOCKET: "/nowhere" } })).stderr;
    expect(await refused("notify")).toMatch(/use notify with assignments, peer, or slice/);
    expect(await refused("notify", "ready")).toMatch(/ready is no assignment/);
    expect(await refused("notify", "READY=1")).toMatch(/no such file or directory/);
  });
});
