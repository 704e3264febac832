/** The client for programs (`@runt-project/runt/client`), against a daemon: each kind of call and stream, and what is left when it ends in the middle. */
import { execFile } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { connect, type EngineClient, type JournalEvent } from "../../src/client/index.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";
import { talking } from "./answering.ts";
import { isRoot, LONGEST_MS, scriptTask, until, useEngine } from "./support.ts";

/** Sockets that this process has open. */
function openSockets(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error) => error,
  );

/** The first value of an iterator that fits. */
async function firstOf<T>(values: AsyncIterable<T>, fits: (value: T) => boolean): Promise<T> {
  for await (const value of values) if (fits(value)) return value;
  throw new Error("none");
}

describe.skipIf(!isRoot)("the client for programs (needs root)", () => {
  const scene = useEngine();
  const client = (): EngineClient => connect({ socket: scene.socket });
  const PRINTING = "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.05; done";
  /** A daemon with the task t, which runs. */
  async function started(script = PRINTING, container = "") {
    const daemon = await scene.daemon();
    const engine = client();
    const { applied, warnings } = await engine.files.apply({ text: scriptTask(scene.rootfs(), { name: "t", script, container }) });
    expect([applied.map(({ name, change }) => [name, change]), warnings]).toEqual([[["t", "created"]], []]);
    await until(async () => (await engine.tasks.get({ name: "t" })).known === "RUNNING");
    return { daemon, engine };
  }

  test("answers are values, errors have the code of the daemon, and options that do not exist are errors", async () => {
    const { engine } = await started();
    expect((await engine.tasks.list()).tasks.map(({ id, name }) => [typeof id, name])).toEqual([["string", "t"]]);
    expect((await engine.tasks.describe({ name: "t" })).readiness.state).toBe("ready");
    expect(await engine.node.metrics()).toContain("runtd_tasks");
    expect(Object.keys(await engine.node.openapi())).toContain("paths");
    expect((await engine.volumes.list({ size: true })).volumes).toEqual([]);
    expect(await errorOf(engine.tasks.get({ name: "a/b ..%" }))).toMatchObject({ name: "ClientError", code: "unknown-task", status: 404 });
    expect(await errorOf(engine.tasks.stop({ name: ".." }))).toMatchObject({
      code: "invalid-argument",
      message: "stopTask: .. is no name",
    });
    expect(await errorOf(engine.files.apply({ text: "nonsense: 1" }))).toMatchObject({ code: "invalid-spec", status: 422 });
    const wrong = engine as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
    expect(await errorOf(wrong["tasks"]!["get"]!({ name: "t", grup: "x" }))).toMatchObject({
      code: "invalid-argument",
      message: "getTask: unknown option grup; known are name, group",
    });
    expect(await errorOf(wrong["tasks"]!["get"]!("t"))).toMatchObject({ message: "getTask: use an object of options" });
    expect(await errorOf(wrong["tasks"]!["get"]!({}))).toMatchObject({ message: "getTask: name is missing" });
    expect(await errorOf(wrong["tasks"]!["get"]!({ name: "t" }, { timeout: 1 }))).toMatchObject({ code: "invalid-argument" });
    const logs = engine.tasks.logs({ name: "t", format: "text" } as { name: string });
    expect(await errorOf(logs.next())).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("unknown option format"),
    });
    expect(() => connect({ sockets: "x" } as object)).toThrow("unknown option sockets");
    expect(() => connect({ timeoutMs: 0 })).toThrow("timeoutMs");
    expect((await engine.tasks.delete({ name: "t" })).ids).toHaveLength(1);
  });

  test("no daemon, one that is silent, one that is none, and a signal are errors of their own", async () => {
    const none = connect({ socket: `${scene.directory}/none.sock` });
    expect(await errorOf(none.tasks.list())).toMatchObject({ code: "unreachable", hint: expect.stringContaining("RUNTD_SOCKET") });
    expect(await errorOf(none.tasks.exec({ name: "t", command: ["true"] }))).toMatchObject({ code: "unreachable" });
    const before = openSockets();
    const silent = connect({ socket: await talking(() => {}), timeoutMs: 200 });
    expect(await errorOf(silent.tasks.list())).toMatchObject({ code: "timeout" });
    expect(await errorOf(silent.tasks.exec({ name: "t", command: ["true"] }))).toMatchObject({ code: "timeout" });
    expect(await errorOf(silent.events.follow().next())).toMatchObject({ code: "timeout" });
    const signal = AbortSignal.timeout(100);
    for (const options of [{ signal }, { signal: AbortSignal.abort(new Error("not now")) }]) {
      expect(await errorOf(silent.tasks.list({}, { ...options, timeoutMs: 20_000 }))).toBe(options.signal.reason);
      expect(await errorOf(silent.tasks.attach({ name: "t" }, { ...options, timeoutMs: 20_000 }))).toBe(options.signal.reason);
    }
    for (const answer of ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "SSH-2.0-x\r\n\r\n"]) {
      const other = connect({ socket: await talking((socket) => void socket.end(answer)) });
      const error = await errorOf(other.tasks.exec({ name: "t", command: ["true"] }));
      expect(error).toMatchObject({ name: "ClientError", code: "no-daemon" });
    }
    // The listening sockets of the three other programs stay, and those of their side may close later.
    await until(() => openSockets() <= before + 3);
  });

  test("exec: streams, stdin, variables, a status, a signal, a terminal, a program that does not exist, and slow readers", async () => {
    const { engine } = await started();
    const exec = (command: readonly [string, ...string[]], more: object = {}) => engine.tasks.exec({ name: "t", command, ...more });
    const shell = (script: string, more: object = {}) => exec(["/bin/sh", "-c", script], more);
    const both = await (await shell("echo out; echo $X >&2; exit 3", { env: { X: "err" } })).output();
    expect([both.exitCode, String(both.stdout), String(both.stderr)]).toEqual([3, "out\n", "err\n"]);
    const cat = await exec(["cat"], { stdin: true });
    const large = Buffer.alloc(3_000_000, "0123456789");
    cat.stdin!.end(large);
    const copied = await cat.output();
    expect([copied.exitCode, copied.stdout.equals(large)]).toEqual([0, true]);
    const sleeping = await exec(["sleep", "1000"]);
    expect(sleeping.stdin).toBeUndefined();
    sleeping.signal("SIGTERM");
    expect(await sleeping.wait()).toEqual({ exitCode: 143 });
    const terminal = await exec(["stty", "size"], { terminal: { rows: 12, columns: 34 } });
    expect(String((await terminal.output()).stdout).trim()).toBe("12 34");
    expect(await errorOf(exec(["/nowhere"]))).toMatchObject({ name: "ClientError", exitStatus: 127 });
    expect(await errorOf(engine.tasks.exec({ name: "u", command: ["true"] }))).toMatchObject({ code: "unknown-task", status: 404 });
    const much = await shell("cat /dev/zero");
    expect(await errorOf(much.output({ maxBytes: 1000 }))).toMatchObject({ code: "too-much-output" });
    expect(await errorOf((await exec(["echo", "x"])).output({ maxBytes: 1 }))).toMatchObject({ code: "too-much-output" });
    const wrong = engine.tasks.exec as unknown as (request: object) => Promise<unknown>;
    expect(await errorOf(wrong({ name: "t", command: ["true"], tty: true }))).toMatchObject({ code: "invalid-argument" });
    expect(await errorOf(wrong({ name: "t", command: [] }))).toMatchObject({ code: "invalid-argument" });
    {
      await using left = await exec(["sleep", "1000"]);
      expect(left.stdout.destroyed).toBe(false);
    }
    // A reader that leaves does not stop the program.
    const early = await shell("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo 0123456789012345678901234567890123456789; done; exit 4");
    for await (const _ of early.stdout) break;
    expect(await early.wait()).toEqual({ exitCode: 4 });
  });

  test("attach: the output from now on, stdin, and the end of the container", async () => {
    const { engine } = await started("while read line; do echo got $line; [ $line = end ] && exit 5; done", "stdin: true");
    const program = await engine.tasks.attach({ name: "t", stdin: true });
    let seen = "";
    program.stdout.on("data", (chunk) => {
      seen += chunk;
    });
    program.stdin!.write("one\n");
    await until(() => seen === "got one\n");
    program.stdin!.write("end\n");
    expect(await program.wait()).toEqual({ exitCode: 5 });
    expect(seen).toBe("got one\ngot end\n");
  });

  test("logs and events: read, followed, left, continued behind a record, and ended by a signal", async () => {
    const { engine } = await started("echo one; echo two >&2; printf three; sleep 1000");
    const read = async () => {
      const lines: string[] = [];
      for await (const { stream, bytes, isPart } of engine.tasks.logs({ name: "t" })) lines.push(`${stream} ${bytes} ${isPart}`);
      return lines.sort();
    };
    await until(async () => (await read()).length === 3);
    expect(await read()).toEqual(["stderr two false", "stdout one false", "stdout three true"]);
    const before = openSockets();
    const quiet = { signal: AbortSignal.timeout(500) };
    expect(await errorOf(engine.tasks.logs({ name: "t", follow: true, tail: 0 }, quiet).next())).toBe(quiet.signal.reason);
    const first = await firstOf(engine.tasks.logs({ name: "t", follow: true }), () => true);
    const next = await firstOf(engine.tasks.logs({ name: "t", follow: true, from: first.next! }), () => true);
    // The two streams of the container are two pipes, so that their lines have no order of their own.
    expect(["one", "two", "three"]).toEqual(expect.arrayContaining([String(first.bytes), String(next.bytes)]));
    expect(String(next.bytes)).not.toBe(String(first.bytes));
    const controller = new AbortController();
    const waiting = firstOf(engine.tasks.logs({ name: "t", follow: true }, { signal: controller.signal }), () => false);
    setTimeout(() => controller.abort(new Error("enough")), 200);
    expect(await errorOf(waiting)).toMatchObject({ message: "enough" });
    const isOf = (type: string) => (one: JournalEvent) => "event" in one && one.event.type === type;
    const created = await firstOf(engine.events.follow({ after: 0 }), isOf("container"));
    expect(created).toMatchObject({ sequence: expect.any(Number), event: { task: expect.any(String), container: "main" } });
    const later = firstOf(engine.events.follow(), isOf("removed"));
    await engine.tasks.delete({ name: "t" });
    const removed = await later;
    expect("sequence" in removed && "sequence" in created && removed.sequence > created.sequence).toBe(true);
    await until(() => openSockets() <= before);
    expect(await errorOf(engine.tasks.logs({ name: "t" }).next())).toMatchObject({ code: "unknown-task", status: 404 });
  });

  test("forward: both directions and their ends, a port without a program, and a signal", async () => {
    const { engine } = await started("nc -ll -p 7 -e cat & echo up; exec sleep 1000");
    await firstOf(engine.tasks.logs({ name: "t", follow: true }), ({ bytes }) => String(bytes) === "up");
    const before = openSockets();
    const large = "abc".repeat(500_000);
    const connection = await engine.tasks.forward({ name: "t", port: 7 });
    connection.end(large);
    expect((await textOf(connection)) === large).toBe(true);
    expect(await errorOf(textOf(await engine.tasks.forward({ name: "t", port: 9 })))).toMatchObject({ code: "not-connected" });
    const controller = new AbortController();
    const idle = await engine.tasks.forward({ name: "t", port: 7 }, { signal: controller.signal });
    const read = errorOf(textOf(idle));
    controller.abort(new Error("enough"));
    expect(await read).toMatchObject({ message: "enough" });
    await until(() => openSockets() <= before);
    expect(await errorOf(engine.tasks.forward({ name: "t", port: 0 }))).toMatchObject({ code: "invalid-argument", status: 400 });
  });

  test("pools: a program with files, input, and its end", { timeout: LONGEST_MS }, async () => {
    await scene.daemon();
    const engine = client();
    await engine.files.apply({ text: JSON.stringify({ kind: "Pool", name: "py", rootfs: scene.rootfs(), size: 1 }) });
    await until(async () => (await engine.pools.get({ name: "py" })).parked === 1);
    const run = await engine.pools.run({
      ...{ name: "py", command: ["/bin/sh", "-c", "cat /tmp/a /tmp/b; cat; exit 7"], stdin: true },
      files: [
        { path: "/tmp/a", content: "first " },
        { path: "/tmp/b", content: Buffer.alloc(200_000, "x"), mode: 0o600 },
      ],
    });
    run.stdin!.end("last");
    const { stdout, ...end } = await run.output();
    expect([end.exitCode, end.endedBy, end.oomKilled, String(stdout)]).toEqual([7, "itself", false, `first ${"x".repeat(200_000)}last`]);
    expect(await errorOf(engine.pools.run({ name: "py", command: ["/nowhere"] }))).toMatchObject({ exitStatus: 127 });
    const controller = new AbortController();
    const endless = await engine.pools.run({ name: "py", command: ["sleep", "1000"] }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    expect(await errorOf(endless.wait())).toMatchObject({ message: "enough" });
    await engine.pools.delete({ name: "py", kill: true });
    await until(async () => (await engine.pools.list()).pools.length === 0);
  });

  test("images: events of a pull that fails are an error with its code", async () => {
    await scene.daemon();
    const engine = client();
    const pull = engine.images.pull({ reference: `oci:${scene.directory}/none` });
    expect(await errorOf(pull.next())).toMatchObject({ name: "ClientError", code: expect.any(String) });
    expect(await errorOf(engine.images.save({ reference: `oci:${scene.directory}/none` }).next())).toMatchObject({ code: "no-image" });
    expect((await engine.images.list()).images).toEqual([]);
  });

  test("the example of docs/library does what it says", async () => {
    await scene.daemon();
    // `make test-runtimes` names other programs that run JavaScript.
    const runtime = process.env["RUNT_EXAMPLES_WITH"] || process.execPath;
    const options = { cwd: join(REPOSITORY, "docs/library"), env: { ...process.env, RUNTD_SOCKET: scene.socket }, timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(runtime, ["client.mjs", scene.rootfs()], options);
    const lines = stdout.trim().split("\n");
    expect(lines.slice(-4)).toEqual([
      ...["main RUNNING", "stdout: hello", "sort ended with 0: apple, pear"],
      expect.stringMatching(/^unknown-task \(404\): there is no task nobody/),
    ]);
    await until(async () => (await client().tasks.list()).tasks.length === 0);
  });

  test("a daemon that is killed in the middle: each stream fails with stream-broken, and nothing stays open", async () => {
    const { engine, daemon } = await started("while read line; do echo $line; done", "stdin: true");
    const before = openSockets();
    const program = await engine.tasks.exec({ name: "t", command: ["cat"], stdin: true });
    const attached = await engine.tasks.attach({ name: "t", stdin: true });
    const logs = engine.tasks.logs({ name: "t", follow: true });
    const events = engine.events.follow({ after: 0 });
    await events.next();
    attached.stdin!.write("hello\n");
    expect(String((await logs.next()).value?.bytes)).toBe("hello");
    const rest = async (values: AsyncIterable<unknown>) => {
      for await (const _ of values);
    };
    const endings = [rest(events), rest(logs), rest(program.stdout), program.wait(), attached.wait()].map(errorOf);
    expect(openSockets()).toBeGreaterThan(before);
    await daemon.kill();
    for (const error of await Promise.all(endings)) expect(error).toMatchObject({ name: "ClientError", code: "stream-broken" });
    program.stdin!.write("nobody reads it");
    await until(() => openSockets() <= before);
    await scene.daemon();
    expect((await engine.tasks.get({ name: "t" })).known).toBe("RUNNING");
  });
});
