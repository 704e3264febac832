import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { clientOf } from "./client.ts";
import { untilGone } from "./tasks.ts";

/** In the place of the daemon: one task, which is there until `remove`. */
async function daemonWith({ takesReaders }: { readonly takesReaders: boolean }) {
  const directory = mkdtempSync(join(tmpdir(), "runt-tasks-"));
  const socket = join(directory, "socket");
  let isThere = true;
  let looks = 0;
  let reader: ServerResponse | undefined;
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/v1/events")) {
      if (!takesReaders) return void response.writeHead(503).end("{}");
      reader = response;
      return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    if (url.startsWith("/v1/node")) return void response.end('{"lastSequence":7}');
    looks++;
    if (isThere) return void response.end('{"id":"g.t.1"}');
    response.writeHead(404).end('{"code":"unknown-task","message":"there is none"}');
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const tell = (task: string) => reader?.write(`id: 8\nevent: removed\ndata: ${JSON.stringify({ type: "removed", task })}\n\n`);
  return {
    session: { client: clientOf([socket]), sockets: [socket], group: "g" } as const,
    looks: () => looks,
    tell,
    remove(): void {
      isThere = false;
      tell("g.t.1");
    },
  };
}

test("the end of a task that is removed is told, not looked for; that of another one is not it", async () => {
  const daemon = await daemonWith({ takesReaders: true });
  const gone = untilGone(daemon.session, ["g.t.1"]);
  await sleep(300);
  daemon.tell("g.other.1");
  await sleep(300);
  expect(daemon.looks()).toBe(1);
  daemon.remove();
  await gone;
  expect(daemon.looks()).toBe(2);
});

test("a daemon that takes no more readers of events is asked now and then; what is gone already is not waited for", async () => {
  const daemon = await daemonWith({ takesReaders: false });
  const gone = untilGone(daemon.session, ["g.t.1"]);
  await sleep(300);
  daemon.remove();
  await gone;
  expect(daemon.looks()).toBeGreaterThan(1);
  await untilGone(daemon.session, ["g.t.1"]);
});
