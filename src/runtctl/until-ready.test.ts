import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { clientOf } from "./client.ts";
import { untilReady } from "./until-ready.ts";

/** In the place of the daemon: tasks a and b, of which each is as `states` says. */
async function daemonOf(states: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), "runt-ready-"));
  const socket = join(directory, "socket");
  const looks: string[] = [];
  let reader: ServerResponse | undefined;
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/v1/events")) {
      reader = response;
      return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    if (url.startsWith("/v1/node")) return void response.end('{"lastSequence":7}');
    const [, name] = /^\/v1\/tasks\/(\w+)\/detail/.exec(url) ?? [];
    looks.push(name ?? url);
    response.end(JSON.stringify({ readiness: { state: states[name!], why: `${name} ${looks.length}` } }));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const session = { client: clientOf([socket]), sockets: [socket], group: "g" } as const;
  const tell = (task: string) => void reader!.write(`id: 8\nevent: check\ndata: ${JSON.stringify({ type: "check", task })}\n\n`);
  return { session, looks, tell, hasReader: () => reader !== undefined, isFollowed: () => reader?.destroyed === false };
}

test("each is looked at once, and again after an event of its own; nothing follows the events at the end", async () => {
  const states = { a: "waits", b: "waits" };
  const daemon = await daemonOf(states);
  const waited = untilReady(daemon.session, ["a", "b"], undefined);
  await sleep(500);
  expect(daemon.looks).toEqual(["a", "b"]);
  states.a = "ready";
  daemon.tell("a");
  daemon.tell("other");
  await expect.poll(() => daemon.looks).toEqual(["a", "b", "a"]);
  states.b = "ready";
  daemon.tell("b");
  expect(await waited).toEqual(new Map());
  expect(daemon.looks).toEqual(["a", "b", "a", "b"]);
  await expect.poll(daemon.isFollowed).toBe(false);
});

test("one that has failed ends the wait; at the end of the time all that are open are looked at once more", async () => {
  const states = { a: "waits", b: "waits" };
  const daemon = await daemonOf(states);
  const late = await untilReady(daemon.session, ["a", "b"], 300);
  expect(late).toEqual(new Map(["a", "b"].map((name, at) => [name, { state: "waits", why: `${name} ${at + 3}` }])));
  await expect.poll(daemon.isFollowed).toBe(false);
  states.a = "failed";
  const failed = await untilReady(daemon.session, ["a", "b"], undefined);
  expect([...failed.values()]).toEqual([
    { state: "failed", why: "a 5" },
    { state: "waits", why: "b 6" },
  ]);
});

test("one that was ready and has failed ends the wait for the others", async () => {
  const states = { a: "ready", b: "waits" };
  const daemon = await daemonOf(states);
  const waited = untilReady(daemon.session, ["a", "b"], undefined);
  await expect.poll(daemon.hasReader).toBe(true);
  states.a = "failed";
  daemon.tell("a");
  expect((await waited).get("a")).toEqual({ state: "failed", why: "a 3" });
});

test("one that was ready and waits again is waited for again", async () => {
  const states = { a: "ready", b: "waits" };
  const daemon = await daemonOf(states);
  const waited = untilReady(daemon.session, ["a", "b"], undefined);
  await expect.poll(daemon.hasReader).toBe(true);
  states.a = "waits";
  daemon.tell("a");
  await expect.poll(() => daemon.looks.length).toBe(3);
  states.b = "ready";
  daemon.tell("b");
  await expect.poll(() => daemon.looks.length).toBe(4);
  states.a = "ready";
  daemon.tell("a");
  expect(await waited).toEqual(new Map());
  expect(daemon.looks).toEqual(["a", "b", "a", "b", "a"]);
});
