/** Requests to daemons that shut down, or that refuse one of several requests. */
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
