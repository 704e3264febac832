import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { clientOf } from "./client.ts";
import { endFor, limitOf, untilEnded, untilReady } from "./until.ts";

/** Stands for the daemon: it has one task until `remove` is called. */
async function daemonWith({ takesReaders }: { readonly takesReaders: boolean }) {
  const directory = mkdtempSync(join(tmpdir(), "runt-tasks-"));
  const socket = join(directory, "socket");
  let isThere = true;
  let looks = 0;
  let left: object[] = [];
  let reader: ServerResponse | undefined;
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/v1/events")) {
      if (!takesReaders) return void response.writeHead(503).end("{}");
      reader = response;
      return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    if (url.startsWith("/v1/node")) return void response.end('{"lastSequence":7}');
    looks++;
    if (isThere) return void response.end(JSON.stringify({ id: "g.t.1", name: "t", known: "RUNNING", left }));
    response.writeHead(404).end('{"code":"unknown-task","message":"there is none"}');
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const tell = (task: string, type = "removed") => reader?.write(`id: 8\nevent: ${type}\ndata: ${JSON.stringify({ type, task })}\n\n`);
  return {
    session: { client: clientOf([socket]), sockets: [socket], group: "g" } as const,
    looks: () => looks,
    tell,
    cannotEnd(): void {
      left = [{ of: "a", message: "processes are left\u001b[2J" }];
      tell("g.t.1", "left");
    },
    remove(): void {
      isThere = false;
      tell("g.t.1");
    },
  };
}

type Mock = Awaited<ReturnType<typeof daemonWith>>;
const gone = ({ session }: Mock, limitMs = 60_000) =>
  untilEnded(session, { tasks: [{ id: "g.t.1", name: "t" }], to: "deleted", end: endFor(limitMs) });
const printed = () => {
  const spy = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.map(([text]) => String(text));
};

test("the end of a task that is removed is told, not looked for; that of another one is not it", async () => {
  const daemon = await daemonWith({ takesReaders: true });
  const waiting = gone(daemon);
  await sleep(300);
  daemon.tell("g.other.1");
  await sleep(300);
  expect(daemon.looks()).toBe(1);
  daemon.remove();
  await waiting;
  expect(daemon.looks()).toBe(2);
});

test("a daemon that takes no more readers of events is asked now and then; what is gone already is not waited for", async () => {
  const daemon = await daemonWith({ takesReaders: false });
  const waiting = gone(daemon);
  await sleep(300);
  daemon.remove();
  await waiting;
  expect(daemon.looks()).toBeGreaterThan(1);
  await gone(daemon);
});

test.each([true, false])("what cannot be removed is told at once and once, and the wait has an end (readers: %j)", async (takesReaders) => {
  const lines = printed();
  const daemon = await daemonWith({ takesReaders });
  const waiting = gone(daemon, 1_000);
  await sleep(300);
  daemon.cannotEnd();
  daemon.cannotEnd();
  await sleep(300);
  const why = "a: processes are left\\x1b[2J";
  expect(lines()).toEqual([`runtctl: task t is not deleted yet: ${why}; the daemon tries again\n`]);
  expect(await waiting).toEqual(new Set(["g.t.1"]));
  expect(lines()[1]).toBe(`runtctl: task t is not deleted: ${why}; the wait is over, and the daemon goes on\n`);
});

test("a wait has ten minutes, or what is asked for", () => {
  expect(limitOf({ wait: true })).toBe(600_000);
  expect(limitOf({ wait: true, timeout: "2s" })).toBe(2_000);
  expect(() => limitOf({ wait: true, timeout: "soon" })).toThrow("soon is no duration");
  expect(() => limitOf({ wait: false, timeout: "2s" })).toThrow("there is no wait");
});

/** Stands for the daemon: it has the tasks a and b in these states. */
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
  const waited = untilReady(daemon.session, ["a", "b"], {});
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
  const late = await untilReady(daemon.session, ["a", "b"], { end: endFor(300) });
  expect(late).toEqual(new Map(["a", "b"].map((name, at) => [name, { state: "waits", why: `${name} ${at + 3}` }])));
  await expect.poll(daemon.isFollowed).toBe(false);
  states.a = "failed";
  const failed = await untilReady(daemon.session, ["a", "b"], {});
  expect([...failed.values()]).toEqual([
    { state: "failed", why: "a 5" },
    { state: "waits", why: "b 6" },
  ]);
});

test("one that was ready and has failed ends the wait for the others", async () => {
  const states = { a: "ready", b: "waits" };
  const daemon = await daemonOf(states);
  const waited = untilReady(daemon.session, ["a", "b"], {});
  await expect.poll(daemon.hasReader).toBe(true);
  states.a = "failed";
  daemon.tell("a");
  expect((await waited).get("a")).toEqual({ state: "failed", why: "a 3" });
});

test("one that was ready and waits again is waited for again", async () => {
  const states = { a: "ready", b: "waits" };
  const daemon = await daemonOf(states);
  const waited = untilReady(daemon.session, ["a", "b"], {});
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
