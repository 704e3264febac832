/** The client against programs that are no daemon, and in places where a program is not usual. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FRAME, frameOf } from "../../src/shared/frames/index.ts";
import { answering, talking, told } from "./answering.ts";
import { RUNTCTL } from "./client-programs.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-hostile-daemon-"));
afterAll(() => rmSync(directory, { recursive: true }));

const NO_HTTP = "what answers does not speak HTTP";
const LOST = "the connection was closed before the answer had ended";
const NO_DAEMON = "what answers is no runtd";
const OK = "HTTP/1.1 200 OK\r\n";
const once = (text: string) => (socket: Socket) => void socket.end(text);
const then = (text: string) => (socket: Socket) => void socket.write(text);
/** Again and again, as fast as it is read. */
const ever = (first: string, again: string) => (socket: Socket) => {
  const write = () => {
    while (!socket.destroyed && socket.write(again));
  };
  socket.write(first);
  socket.on("drain", write);
  write();
};
const PIECE = "x".repeat(60_000);

function asks(words: readonly string[]) {
  // 2 GiB of addresses: what takes 10 GB ends at once.
  return told(["/bin/sh", "-c", 'ulimit -v 2097152; exec "$0" "$@"', ...RUNTCTL], words);
}

test.each<readonly [what: string, talk: (socket: Socket) => void, words: readonly string[], status: number, text: string]>([
  ["closes at once", (socket) => void socket.destroy(), ["get"], 3, LOST],
  ["says garbage", then("220 mail.example ESMTP\r\n"), ["get"], 3, NO_HTTP],
  ["says garbage without an end", ever("", PIECE), ["get"], 3, NO_HTTP],
  ["sends a head without an end", ever(OK, `a: ${"x".repeat(1000)}\r\n`), ["get"], 3, NO_HTTP],
  ["sends a line of the head without an end", ever(`${OK}a: `, PIECE), ["get"], 3, NO_HTTP],
  ["says how long it is in two ways", then(`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`), ["get"], 3, NO_HTTP],
  ["says two lengths", then(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`), ["get"], 3, NO_HTTP],
  ["says a length that is none", then(`${OK}Content-Length: -2\r\n\r\n{}`), ["get"], 3, NO_HTTP],
  ["sends no chunks", then(`${OK}Transfer-Encoding: chunked\r\n\r\n{}\r\n\r\n`), ["get"], 3, NO_HTTP],
  ["sends a chunk that is longer than it says", then(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`), ["get"], 3, NO_HTTP],
  ["wants another protocol", then("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), ["images"], 3, NO_HTTP],
  ["closes in the middle of the head", once("HTTP/1.1 200 OK\r\nContent-Le"), ["get"], 3, LOST],
  ["closes in the middle of a length", once(`${OK}Content-Length: 100\r\n\r\n{`), ["get"], 3, LOST],
  ["closes in the middle of the chunks", once(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a`), ["get"], 3, LOST],
  ["closes in the middle of an answer to a change", once(`${OK}Content-Length: 100\r\n\r\n{`), ["stop", "t"], 3, LOST],
  ["answers without an end", ever(`${OK}Transfer-Encoding: chunked\r\n\r\n`, `ea60\r\n${PIECE}\r\n`), ["get"], 1, NO_DAEMON],
  ["answers 10 GB", ever(`${OK}Content-Length: 10000000000\r\n\r\n`, PIECE), ["get"], 1, NO_DAEMON],
  ["answers no JSON", then(`${OK}Content-Length: 4\r\n\r\n{]}\n`), ["get"], 1, NO_DAEMON],
  ["answers no object", then(`${OK}Content-Length: 4\r\n\r\nnull`), ["get"], 1, NO_DAEMON],
  ["refuses in a way that is none", then("HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n[]"), ["get"], 1, "undefined"],
  ["sends an event without an end", ever(`${OK}\r\ndata: `, PIECE), ["pull", "oci:/x"], 1, NO_DAEMON],
  ["sends an event that is none", then(`${OK}\r\nevent: image\ndata: {\n\n`), ["pull", "oci:/x"], 1, NO_DAEMON],
  [
    "ends a pull early",
    once(`${OK}\r\nevent: progress\ndata: {}\n\n`),
    ["pull", "oci:/x"],
    3,
    "the daemon has ended before the work was done",
  ],
  ["tells of a progress that is none", once(`${OK}\r\nevent: progress\ndata: null\n\n`), ["pull", "oci:/x"], 1, NO_DAEMON],
])("whoever %s", async (_, talk, words, status, text) => {
  const socket = await talking(talk);
  const begun = performance.now();
  const { stderr, ...end } = await asks(["-s", socket, ...words]);
  expect({ ...end, stderr }).toEqual({ status, stdout: "", stderr: expect.stringContaining(text) });
  expect(stderr.replace(/^pulling .*\n/, "").split("\n").length).toBe(2);
  expect(performance.now() - begun).toBeLessThan(60_000);
});

test("whoever never answers is given up after half a minute; so is who stops in the middle", async () => {
  const text = (socket: string) => `runtctl: ${socket}: no answer within 30 s\n`;
  const silent = [() => {}, then(OK), then(`${OK}Content-Length: 3\r\n\r\n{`)].map(async (talk) => {
    const socket = await talking(talk);
    expect(await asks(["-s", socket, "get"])).toEqual({ status: 3, stdout: "", stderr: text(socket) });
  });
  await Promise.all(silent);
});

test("a log line without an end is no log, and neither is a frame without one", async () => {
  const socket = await answering(({ url = "" }, response) => {
    if (!url.includes("/logs")) return void response.end(JSON.stringify({ id: "g.t.1", containers: [{ name: "a", type: "normal" }] }));
    const write = () => {
      while (!response.destroyed && response.write(PIECE));
    };
    response.on("drain", write);
    write();
  });
  const { status, stderr } = await asks(["-s", socket, "logs", "t", "-t"]);
  expect([status, stderr]).toEqual([1, `runtctl: ${NO_DAEMON}: it sends a line without an end\n`]);
  expect(await asks(["-s", socket, "logs", "t"])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/it sends a frame of \d+ bytes: 1048576 is the most\n$/),
  });
});

test("closed standard streams, a full disk, and a reader that has gone", () => {
  const shell = (script: string) => {
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", script, "sh", ...RUNTCTL], { encoding: "utf8" });
    return { status, stdout, stderr };
  };
  const nothing = { stdout: "", stderr: "" };
  expect(shell('"$@" --version <&- >&- 2>&-')).toEqual({ status: 0, ...nothing });
  expect(shell(`"$@" -s ${directory}/none get 2>&-`)).toEqual({ status: 3, ...nothing });
  expect(shell('"$@" completion bash >/dev/full')).toEqual({
    ...{ status: 1, stdout: "" },
    stderr: "runtctl: the output cannot be written: ENOSPC\n",
  });
  // It is told by the status alone, as most programs are ended then.
  const closed = `${directory}/closed`;
  const gone = shell(
    `{ until [ -e ${closed} ]; do sleep 0.05; done; "$@" completion bash; echo "status $?" >&2; } | { exec <&-; : >${closed}; }`,
  );
  expect(gone.stderr).toBe("status 1\n");
});

test("FIFOs and a program's output are files", async () => {
  const fifo = join(directory, `fifo`);
  execFileSync("mkfifo", [fifo]);
  const socket = await answering(
    (_, response, body) => void response.end(JSON.stringify({ applied: [{ name: JSON.parse(body).text, change: "created" }] })),
  );
  const writing = told(["/bin/sh", "-c", `sleep 0.3; echo one > ${fifo}`], []);
  expect((await asks(["-s", socket, "apply", "-f", fifo])).stdout).toBe("task one\n created\n");
  await writing;
  const piped = await told(["bash", "-c", `"$@" -s ${socket} apply -f <(sleep 0.2; printf two)`, "bash", ...RUNTCTL], []);
  expect(piped.stdout).toBe("task two created\n");
  const bytes = await told(RUNTCTL, ["-s", socket, "apply", "-f", "-"], { input: Uint8Array.from([0x61, 0xff, 0xe2, 0x82, 0x62]) });
  expect(bytes.stdout).toBe("task a\ufffd\ufffdb created\n");
});

test("a long log in little memory, its two streams in order, to a slow reader", async () => {
  const count = 60_000;
  const line = (index: number) => `line ${index} with some more text`;
  const isError = (index: number) => index % 5 === 0;
  const record = (index: number) => `2026-01-31T12:00:00.000000001Z ${isError(index) ? "stderr" : "stdout"} F ${line(index)}\n`;
  const frame = (index: number) => frameOf(isError(index) ? FRAME.stderr : FRAME.stdout, Buffer.from(`1-1-1- ${line(index)}\n`));
  const socket = await answering(({ url = "" }, response) => {
    if (!url.includes("/logs")) return void response.end(JSON.stringify({ id: "g.t.1", containers: [{ name: "a", type: "normal" }] }));
    let index = 0;
    const write = () => {
      const piece = url.includes("format=frames") ? frame : record;
      while (index < count && response.write(piece(index))) index++;
      if (index++ >= count) response.end();
    };
    response.on("drain", write);
    write();
  });
  // 64 MiB of addresses: four times the log, were it kept.
  for (const [flag, time] of [
    ["", ""],
    ["-t", "2026-01-31T12:00:00.000000001Z "],
  ]) {
    const script = `ulimit -v 65536; "$@" -s ${socket} logs t ${flag} 2>&1 | { sleep 1; cat; }`;
    const read = await told(["/bin/sh", "-c", script, "sh", ...RUNTCTL], []);
    expect(read.stderr).toBe("");
    expect(read.stdout === Array.from({ length: count }, (_, index) => `${time}${line(index)}\n`).join("")).toBe(true);
  }
});

test("logs of several containers of which one is refused: the error is told, and nothing holds the program", async () => {
  const container = (name: string) => ({ name, type: "normal" });
  const task = { id: "g.web.1", name: "web", containers: [container("open"), container("refused")] };
  const socket = await answering(({ url = "" }, response) => {
    if (!url.includes("/logs")) response.end(JSON.stringify(task));
    else if (url.includes("container=open")) response.write("2026-01-31T12:00:00.000000000Z stdout F line\n");
    // Answers when the other connection is open.
    else setTimeout(() => response.writeHead(429).end(JSON.stringify({ code: "too-many", message: "too many readers" })), 100);
  });
  expect(await asks(["-s", socket, "logs", "web"])).toMatchObject({ status: 1, stderr: "runtctl: too many readers\n" });
});

test("reads share a connection, a change has one of its own, and one that was closed meanwhile is made anew", async () => {
  let connections = 0;
  const used = new Map<object, number>();
  let most = Number.POSITIVE_INFINITY;
  const socket = await answering(
    ({ socket: own }, response) => {
      used.set(own, (used.get(own) ?? 0) + 1);
      if (used.get(own)! > most) own.destroy();
      else response.end(JSON.stringify({ tasks: [], orphans: [], lastSequence: 1, forgotten: [], missing: [], others: [] }));
    },
    () => {
      connections++;
    },
  );
  const count = async (...words: string[]) => {
    connections = 0;
    expect((await asks(["-s", socket, ...words])).status).toBe(0);
    return connections;
  };
  expect(await count("get")).toBe(1);
  expect(await count("stop", "t")).toBe(2);
  most = 1;
  expect(await count("get")).toBe(3);
});

test("a daemon that refuses a request before it has read it", async () => {
  const refusal = JSON.stringify({ code: "body-too-large", message: "the body is too large" });
  const socket = await talking((open) => {
    open.pause();
    open.write(`HTTP/1.1 413 X\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`);
  });
  const file = join(directory, "large.yaml");
  writeFileSync(file, "#".repeat(3 << 20));
  expect(await asks(["-s", socket, "apply", "-f", file])).toEqual({ status: 1, stdout: "", stderr: "runtctl: the body is too large\n" });
});

test("an answer of 1,000 tasks", async () => {
  const task = (index: number) => ({
    id: `g.t${index}.1`,
    group: "default",
    name: `t${index}`,
    known: "RUNNING",
    containers: [],
    filler: "\u00fc".repeat(900),
  });
  const tasks = Array.from({ length: 1000 }, (_, index) => task(index));
  const socket = await answering(
    ({ url }, response) => void response.end(JSON.stringify(url === "/v1/tasks" ? { tasks } : { lastSequence: 1 })),
  );
  const { stdout } = await asks(["-s", socket, "get", "-o", "json"]);
  expect(JSON.parse(stdout)).toEqual(tasks);
  expect((await asks(["-s", socket, "get", "-o", "name"])).stdout).toBe(tasks.map((one) => `${one.name}\n`).join(""));
});

test("hostile variables change nothing but what they are for", async () => {
  const socket = await answering(
    (_, response) => void response.writeHead(404).end(JSON.stringify({ code: "unknown-task", message: "none" })),
  );
  const long = "x".repeat(100_000);
  for (const env of [
    {
      RUNTD_SOCKET: socket,
      NO_COLOR: "",
      FORCE_COLOR: "1",
      TERM: "\u001b[31m",
      LANG: "tr_TR.UTF-8",
      TZ: "../../etc/passwd",
      COLUMNS: "-1",
    },
    { RUNTD_SOCKET: "@abstract" },
    { RUNTD_SOCKET: "" },
    { RUNTD_SOCKET: directory },
    { RUNTD_SOCKET: long },
    { RUNT_DEBUG: "1", RUNT_DISABLE: "head-start", RUNTD_SOCKET: `${directory}/none` },
  ]) {
    const { status, stderr } = await told(RUNTCTL, ["rollback", "t"], { env });
    expect([env, status]).toEqual([env, env.RUNTD_SOCKET === socket ? 1 : 3]);
    expect(stderr).toMatch(env.RUNTD_SOCKET === socket ? /^runtctl: none\n$/ : /^runtctl: .*\n/);
  }
});

test("all of it goes on where there is no Node and nothing beside it", async () => {
  const env = { PATH: "/nonexistent" };
  const socket = await answering((_, response) => void response.end(JSON.stringify({ images: [] })));
  const alone = join(directory, "runtctl");
  execFileSync("cp", [RUNTCTL[0], alone]);
  expect((await told([alone], ["-s", socket, "images", "-o", "json"], { env })).stdout).toBe("[]\n");
  expect(JSON.parse((await told([alone], ["schema"], { env })).stdout)).toHaveProperty("anyOf.0.properties.containers");
});
