/** The client for programs (`@runt-project/runt/client`) against programs in the place of the daemon: answers that a daemon gives rarely or never. */
import type { Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { expect, test } from "vitest";
import { connect, type EngineClient } from "../../src/client/index.ts";
import { FRAME, type FrameKind, frameOf } from "../../src/shared/frames/index.ts";
import { talking } from "../engine/answering.ts";

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error) => error,
  );

const asked = async (talk: (socket: Socket) => void): Promise<EngineClient> => connect({ socket: await talking(talk), timeoutMs: 60_000 });

type Sent = readonly [kind: FrameKind, payload?: string];
const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: runtd-stream/1\r\nConnection: Upgrade\r\n\r\n";
/** A daemon that sends these frames at once, and keeps the connection. */
const sending = (...frames: readonly Sent[]) =>
  asked((socket) => {
    const bytes = frames.map(([kind, payload = ""]) => frameOf(kind, Buffer.from(payload)));
    socket.write(Buffer.concat([Buffer.from(SWITCHED), ...bytes]));
  });

const STARTED: Sent = [FRAME.started];
const END: Sent = [FRAME.end, '{"exitCode":0}'];
const exec = (engine: EngineClient, options = {}) => engine.tasks.exec({ name: "t", command: ["echo", "x"] }, options);
const UPGRADES: readonly (readonly [name: string, call: (engine: EngineClient, options?: { signal?: AbortSignal }) => Promise<unknown>])[] =
  [
    ["exec", exec],
    ["attach", (engine, options) => engine.tasks.attach({ name: "t" }, options)],
    ["forward", (engine, options) => engine.tasks.forward({ name: "t", port: 7 }, options)],
    ["pools.run", (engine, options) => engine.pools.run({ name: "p" }, options)],
  ];

test("output that is longer than it may be is an error, also of a program that has ended", async () => {
  const engine = await sending(STARTED, [FRAME.stdout, "ab\n"], [FRAME.stderr, "cd\n"], END);
  expect(await errorOf((await exec(engine)).output({ maxBytes: 1 }))).toMatchObject({ name: "ClientError", code: "too-much-output" });
  expect(await errorOf((await exec(engine)).output({ maxBytes: 5 }))).toMatchObject({ code: "too-much-output" });
  expect(await (await exec(engine)).output({ maxBytes: 6 })).toMatchObject({ exitCode: 0, stdout: Buffer.from("ab\n") });
  for (const maxBytes of [Number.NaN, -1, "6" as unknown as number])
    expect(await errorOf((await exec(engine)).output({ maxBytes }))).toMatchObject({ name: "ClientError", code: "invalid-argument" });
});

test.each(UPGRADES)("%s: a signal ends it while it connects, and while it waits for the answer", async (_, call) => {
  const engine = await asked(() => {});
  for (const wait of [() => {}, () => Promise.resolve(), () => new Promise(setImmediate)]) {
    const controller = new AbortController();
    const error = errorOf(call(engine, { signal: controller.signal }));
    await wait();
    controller.abort(new Error("enough"));
    expect(await error).toMatchObject({ message: "enough" });
  }
  const during = new AbortController();
  const error = errorOf(call(engine, { signal: during.signal }));
  during.abort(new Error("at once"));
  expect(await error).toMatchObject({ message: "at once" });
});

test.each(UPGRADES)("%s: an end before the start is an error", async (_, call) => {
  expect(await errorOf(call(await sending(END)))).toMatchObject({ name: "ClientError", code: "no-daemon" });
});

test.each(UPGRADES)("%s: frames that cannot be read are errors", async (_, call) => {
  expect(await errorOf(call(await sending([FRAME.failed, "null"])))).toMatchObject({ name: "ClientError", code: "no-daemon" });
  expect(await errorOf(call(await sending([FRAME.failed, "{"])))).toMatchObject({ name: "ClientError", code: "no-daemon" });
  const large = await asked((socket) => void socket.write(Buffer.concat([Buffer.from(SWITCHED), Buffer.alloc(5, 255)])));
  expect(await errorOf(call(large))).toMatchObject({ name: "ClientError", code: "no-daemon" });
});

test("an end that cannot be read is an error of the program", async () => {
  for (const payload of ["", "null", "{"])
    expect(await errorOf((await exec(await sending(STARTED, [FRAME.end, payload]))).wait())).toMatchObject({ code: "no-daemon" });
});

test("an error of a listener is the caller's own, and what follows it is received", async () => {
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  const uncaught: unknown[] = [];
  process.on("uncaughtException", (error) => uncaught.push(error));
  try {
    const engine = await asked((socket) => {
      socket.write(Buffer.concat([Buffer.from(SWITCHED), frameOf(FRAME.started, Buffer.alloc(0))]));
      setTimeout(() => {
        const rest = [
          frameOf(FRAME.stdout, Buffer.from("a")),
          frameOf(FRAME.stdout, Buffer.from("b")),
          frameOf(FRAME.end, Buffer.from(END[1]!)),
        ];
        socket.write(Buffer.concat(rest));
      }, 50);
    });
    const program = await exec(engine);
    const seen: string[] = [];
    program.stdout.on("data", (piece) => {
      seen.push(String(piece));
      if (seen.length === 1) throw new Error("of the listener");
    });
    expect(await program.wait()).toEqual({ exitCode: 0 });
    await expect.poll(() => [seen, uncaught]).toMatchObject([["a", "b"], [{ message: "of the listener" }]]);
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const one of others) process.on("uncaughtException", one);
  }
});

test("a connection that is lost after the request is not told as no daemon, and garbage is told as another program", async () => {
  const lost = await asked((socket) => void socket.destroy());
  expect(await errorOf(lost.tasks.list())).toMatchObject({ name: "ClientError", code: "stream-broken" });
  expect(await errorOf(lost.events.follow().next())).toMatchObject({ name: "ClientError", code: "stream-broken" });
  for (const [, call] of UPGRADES) expect(await errorOf(call(lost))).toMatchObject({ name: "ClientError", code: "stream-broken" });
  const garbage = await asked((socket) => void socket.end("SSH-2.0-x\r\n\r\n"));
  expect(await errorOf(garbage.tasks.list())).toMatchObject({ name: "ClientError", code: "no-daemon" });
  for (const [, call] of UPGRADES) expect(await errorOf(call(garbage))).toMatchObject({ name: "ClientError", code: "no-daemon" });
});

test("a forwarded connection ends as the daemon says", async () => {
  const engine = await sending(STARTED, [FRAME.stdout, "hello"], END);
  expect(await textOf(await engine.tasks.forward({ name: "t", port: 7 }))).toBe("hello");
});

test("a line of a log that is no record is a message of the log, and the records after it are read", async () => {
  const time = "2026-01-02T03:04:05.678901234Z";
  const lines = [`0-1-2-3 ${time} stdout F one`, "0-1-3-3  runt F unreadable: torn", "- nonsense", `0-1-4-3 ${time} stderr P two`];
  const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n";
  const engine = await asked((socket) => void socket.end(`${ok}${lines.join("\n")}\n`));
  const seen: unknown[] = [];
  for await (const { bytes, ...rest } of engine.tasks.logs({ name: "t" })) seen.push({ ...rest, text: String(bytes) });
  expect(seen).toEqual([
    { time, stream: "stdout", isPart: false, text: "one", next: "0-1-2-3" },
    { time: "", stream: "runt", isPart: false, text: "unreadable: torn", next: "0-1-3-3" },
    { time: "", stream: "runt", isPart: false, text: "unreadable: nonsense" },
    { time, stream: "stderr", isPart: true, text: "two", next: "0-1-4-3" },
  ]);
  const none = await asked((socket) => void socket.end(`${ok}<html>\n`));
  expect(await errorOf(none.tasks.logs({ name: "t" }).next())).toMatchObject({ code: "no-daemon" });
});

test("what callers without types hand over is refused by name, and by the promise or the iterator", async () => {
  const engine = connect({ socket: "/nowhere" });
  const refused = async (call: () => unknown, message: string) => {
    const answer = call() as Promise<unknown> | AsyncGenerator<unknown>;
    const error = await errorOf("next" in answer ? answer.next() : answer);
    expect(error).toMatchObject({ name: "ClientError", code: "invalid-argument", message: expect.stringContaining(message) });
  };
  const half = "\ud800";
  const wrong = "soon" as unknown as AbortSignal;
  const cycle: Record<string, unknown> = {};
  cycle["itself"] = cycle;
  await refused(() => engine.tasks.get({ name: half }), "name has half of a surrogate pair");
  await refused(() => engine.tasks.get({ name: "t", group: half }), "group has half of a surrogate pair");
  await refused(() => engine.tasks.logs({ name: half }), "name has half of a surrogate pair");
  await refused(() => engine.tasks.exec({ name: half, command: ["x"] }), "name has half of a surrogate pair");
  await refused(() => engine.tasks.list({}, { signal: wrong }), "signal: use an AbortSignal");
  await refused(() => engine.tasks.list({}, { signal: null as unknown as AbortSignal }), "signal: use an AbortSignal");
  await refused(() => exec(engine, { signal: wrong }), "signal: use an AbortSignal");
  await refused(() => engine.events.follow({}, { signal: wrong }), "signal: use an AbortSignal");
  await refused(() => engine.events.follow({ sort: "x" } as object), "unknown option sort");
  await refused(() => engine.events.follow({}, { timeoutMs: -1 }), "timeoutMs");
  await refused(() => engine.files.apply({ text: cycle as unknown as string }), "applyFile: ");
  await refused(() => engine.tasks.exec({ name: "t", command: ["x"], env: cycle as Record<string, string> }), "execInTask: ");
  await refused(() => engine.images.pull({ reference: 1n as unknown as string }), "pullImage: ");
});

test("the time limit of the client is not that of a call whose answer waits for its work", async () => {
  const engine = connect({
    socket: await talking((socket) => void setTimeout(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), 400)),
    timeoutMs: 50,
  });
  expect(await errorOf(engine.tasks.list())).toMatchObject({ code: "timeout" });
  expect(await engine.files.apply({ text: "" })).toEqual({});
  expect(await errorOf(engine.files.apply({ text: "" }, { timeoutMs: 50 }))).toMatchObject({ code: "timeout" });
});
