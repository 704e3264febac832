/** The client against daemons that shut down, or that refuse one of several requests. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clientOf } from "./client.ts";

let directory: string;
let server: Server | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-client-"));
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function serve(answer: RequestListener): Promise<string> {
  const path = join(directory, "admin.sock");
  server = createServer(answer);
  await new Promise<void>((resolve) => server!.listen(path, resolve));
  return path;
}

test("a read on a connection that the daemon closes at that moment is asked again on another one; a change has one of its own", async () => {
  const used = new Map<object, number>();
  const asked: string[] = [];
  const path = await serve((incoming, outgoing) => {
    const count = (used.get(incoming.socket) ?? 0) + 1;
    used.set(incoming.socket, count);
    asked.push(`${incoming.method} ${count}`);
    if (count > 1) incoming.socket.destroy();
    else outgoing.end("{}");
  });
  const client = clientOf([path]);
  for (const method of ["GET", "GET", "POST", "POST"] as const) expect(await client.call(method, "/")).toEqual({});
  expect(asked).toEqual(["GET 1", "GET 2", "GET 1", "POST 1", "POST 1"]);
});

test("logs of several containers of which one is refused: the error is told, and nothing holds the program", async () => {
  const container = (name: string) => ({ name, type: "normal" });
  const task = { id: "g.web.1", name: "web", containers: [container("open"), container("refused")] };
  const path = await serve((incoming, outgoing) => {
    const url = incoming.url ?? "";
    if (!url.includes("/logs")) outgoing.end(JSON.stringify(task));
    else if (url.includes("container=open")) outgoing.write("2026-01-31T12:00:00.000000000Z stdout F line\n");
    // Answers when the other connection is open.
    else setTimeout(() => outgoing.writeHead(429).end(JSON.stringify({ code: "too-many", message: "too many readers" })), 100);
  });
  const main = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, ["--import", "tsx", main, "-s", path, "logs", "web"], { stdio: ["ignore", "ignore", "pipe"] });
  let told = "";
  child.stderr.on("data", (chunk) => {
    told += chunk;
  });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
  expect(told).toBe("runtctl: too many readers\n");
});
