/** What is sent: requests that are nearly right, with something wrong in them. It names no image and no directory of this host but those it is given. */
import { requestOf } from "../engine/raw-http.ts";
import type { Random } from "./random.ts";

export type Door = "admin" | "read" | "interlink";

const TARGETS = [
  "//[",
  "*",
  "/%",
  "/%00",
  "http://[/",
  "/v1/node",
  "/v1/tasks",
  "/v1/tasks/t",
  "/v1/tasks/t/detail",
  "/v1/tasks/%ff/logs",
  "/v1/openapi.json",
]
  .concat(
    [
      "exec",
      "attach",
      "attach?stdin=true",
      "logs",
      "logs?follow=true",
      "logs?from=9-9-9-9&follow=true",
      "forward?port=1",
      "forward?port=1e999",
    ].map((one) => `/v1/tasks/t/${one}`),
  )
  .concat([
    "/v1/events?after=1e999",
    "/v1/images",
    "/v1/images/inspect?reference=%00",
    "/v1/images/save?reference=x",
    "/v1/registries/user?registry=%00",
    "/status",
    "/getLogs",
    "/v1/volumes",
    "/v1/pools/%ff",
    "/v1/pools/p/run",
    "/v1/pools/p/run?group=%",
    "/v1/usage?group=%",
  ]);
const METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "HEAD", "PATCH", "X"];
const HEADS = [
  "Host: x",
  "Host: [",
  "Connection: Upgrade",
  "Upgrade: runtd-stream/1",
  "Upgrade: websocket",
  "Expect: 100-continue",
  "Expect: x",
].concat([
  "Content-Length: 5",
  "Content-Length: -1",
  "Transfer-Encoding: chunked",
  "Last-Event-ID: -1",
  "Last-Event-ID: x",
  "Connection: close",
  "\0",
]);
const PIECES = [
  "{",
  "[",
  "- ",
  "? ",
  "a: ",
  "&a ",
  "*a",
  "---\n",
  "!!x ",
  '"',
  "'",
  "|\n",
  "]",
  "}",
  ",",
  ":",
  "#",
  "\n",
  "  ",
  "\t",
  "$(A)",
  "${A:-",
  "\0",
  "\uD800",
];
const BODIES = [
  "/v1/apply",
  "/v1/plan",
  "/v1/stop",
  "/v1/delete",
  "/v1/restart",
  "/v1/rollouts/web/undo",
  "/v1/autoupdate",
  "/v1/images/pull",
  "/v1/images/tag",
  "/v1/images/push",
  "/v1/registries/login",
  "/v1/registries/logout",
  "/v1/interfaces",
  "/v1/volumes/delete",
  "/create",
  "/delete",
];
const FIELDS = [
  "text",
  "names",
  "all",
  "group",
  "reference",
  "name",
  "__proto__",
  "constructor",
  "pod",
  "container",
  "metadata",
  "uid",
  "revision",
];

/** @param layouts directories with layouts of images */
export function inputOf(random: Random, layouts: readonly string[] = []): { readonly door: Door; readonly bytes: Buffer } {
  if (layouts.length > 0 && random.below(12) === 0) return { door: "admin", bytes: pullOf(random, layouts) };
  if (random.below(6) === 0) return { door: "admin", bytes: mutated(sessionOf(random), random) };
  const door = random.pick(["admin", "read", "interlink"] as const);
  const make = random.pick([headOf, headOf, framesOf, bodyOf, bodyOf, fileOf, fileOf, noiseOf]);
  return { door, bytes: mutated(make(random), random) };
}

function headOf(random: Random): Buffer {
  const heads = Array.from({ length: random.below(6) }, () => random.pick(HEADS));
  const target = random.below(8) === 0 ? `/${"a".repeat(random.below(20_000))}` : random.pick(TARGETS);
  const one = `${random.pick(METHODS)} ${target} HTTP/1.1\r\n${heads.map((line) => `${line}\r\n`).join("")}\r\n`;
  return Buffer.from(one.repeat(1 + random.below(4)));
}

function framesOf(random: Random): Buffer {
  const head = `${random.pick(["GET", "POST"])} ${random.pick(TARGETS)} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: runtd-stream/1\r\n\r\n`;
  const frames = Array.from({ length: random.below(20) }, () => {
    const payload = Buffer.from(random.pick(['{"command":["sh"]}', "{}", "SIGKILL", '{"rows":1e999}', ""]));
    const bytes = Buffer.alloc(5 + payload.length);
    bytes[0] = random.below(24);
    bytes.writeUInt32BE(random.below(8) === 0 ? random.below(2 ** 32) : payload.length, 1);
    payload.copy(bytes, 5);
    return bytes;
  });
  return Buffer.concat([Buffer.from(head), ...frames]);
}

/** A run in a pool: frames of which each alone is right. */
function poolRunOf(random: Random): Buffer {
  const head = "POST /v1/pools/p/run HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: Upgrade\r\nUpgrade: runtd-stream/1\r\n\r\n";
  const bytes = random.pick([0, 1, 3, 70_000, 2 ** 22, 2 ** 53]);
  const start = {
    ...(random.below(4) === 0
      ? {}
      : { command: random.pick([["cat"], ["sh", "-c", "cat /dev/zero"], ["sleep", "1"], ["/none"], [""], ["sh", "x\0y"]]) }),
    ...(random.below(2) === 0 ? { stdin: true } : {}),
    ...(random.below(3) === 0 ? { deadlineMs: random.pick([-1, 0, 1, 50, 1e308]) } : {}),
    ...(random.below(3) === 0 ? { limits: { memoryBytes: random.pick([0, 1, 2 ** 25, 2 ** 60]), pids: random.pick([0, 1, 8]) } } : {}),
    ...(random.below(2) === 0
      ? { files: [{ path: random.pick(["/tmp/x", "x", "/proc/self/mem", "/tmp/../etc/x", "/tmp/\0"]), bytes }] }
      : {}),
    ...(random.below(4) === 0
      ? { env: { __proto__: "x", [random.pick(["A", "", "A=B", "A\0"])]: "x" }, cwd: random.pick(["/", "..", "/none"]) }
      : {}),
  };
  const frames = Array.from({ length: random.below(12) }, () =>
    random.pick([
      () => frame(1, "x".repeat(random.below(70_000))),
      () => frame(2, ""),
      () => frame(5, "x".repeat(random.pick([0, 1, 3, 70_000]))),
    ])(),
  );
  return Buffer.concat([Buffer.from(head), frame(0, JSON.stringify(start)), ...frames]);
}

/** A program in a container that runs, or its own streams: frames of which each alone is right. */
function sessionOf(random: Random): Buffer {
  if (random.below(3) === 0) return poolRunOf(random);
  const way = random.pick(["exec", "exec", "attach", "attach?stdin=true"]);
  const head = `GET /v1/tasks/t/${way} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: runtd-stream/1\r\n\r\n`;
  const start = {
    command: random.pick([["cat"], ["sh", "-c", "cat /dev/zero"], ["sh", "-c", "sleep 1"], ["/none"], [""], ["sh", "x\0y"]]),
    ...(random.below(2) === 0 ? { stdin: true } : {}),
    ...(random.below(3) === 0 ? { terminal: { rows: random.pick([0, 24, 65_536]), columns: 80 } } : {}),
    ...(random.below(4) === 0
      ? { user: random.pick(["0", "nobody", "1:2:3", "99999999999"]), cwd: random.pick(["/", "..", "/none"]) }
      : {}),
  };
  const frames = Array.from({ length: random.below(12) }, () =>
    random.pick([
      () => frame(1, "x".repeat(random.below(70_000))),
      () => frame(2, ""),
      () => frame(3, JSON.stringify({ rows: random.below(70_000), columns: random.below(300) })),
      () => frame(4, random.pick(["SIGTERM", "SIGKILL", "SIGX", ""])),
    ])(),
  );
  return Buffer.concat([Buffer.from(head), ...(way === "exec" ? [frame(0, JSON.stringify(start))] : []), ...frames]);
}

function frame(kind: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(5);
  head[0] = kind;
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

function pullOf(random: Random, layouts: readonly string[]): Buffer {
  if (random.below(8) === 0) return Buffer.from(requestOf("POST", "/v1/images/prune", {}));
  const reference = `oci:${random.pick(layouts)}${random.pick([":v1", ":v1", ":v1", "", ":x"])}`;
  return Buffer.from(requestOf("POST", "/v1/images/pull", { reference, policy: "always" }));
}

function jsonValueOf(random: Random, level = 0): unknown {
  const kind = random.below(level > 4 ? 5 : 8);
  if (kind < 5) return random.pick<unknown>([null, true, -1, 1e308, "", "x".repeat(random.below(1000)), "\uD800", "\0", "../..", 2 ** 53]);
  const inner = () => jsonValueOf(random, level + 1);
  if (kind === 5) return Array.from({ length: random.below(20) }, inner);
  return Object.fromEntries(Array.from({ length: random.below(6) }, () => [random.pick(FIELDS), inner()]));
}

function bodyOf(random: Random): Buffer {
  const depth = random.below(100_000);
  const body = random.pick<unknown>([
    jsonValueOf(random),
    "[".repeat(depth),
    `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
    `[${"{},".repeat(depth)}1]`,
  ]);
  return Buffer.from(requestOf(random.pick(["POST", "GET", "DELETE"]), random.pick(BODIES), body));
}

function fileOf(random: Random): Buffer {
  const most = random.pick([10, 1000, 100_000]);
  const some = Array.from({ length: 1 + random.below(4) }, () => random.pick(PIECES));
  const text = Array.from({ length: 1 + random.below(most) }, () => random.pick(some)).join("");
  const env = Array.from({ length: 2 + random.below(9) }, (_, index) => ({
    name: `A${index}`,
    value: `x$(A${index - 1})`.repeat(1 + random.below(12)),
  }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u" },
    spec: { containers: [{ name: "a", image: "oci:/nowhere:v1", env }] },
  };
  // It is planned, and nothing is applied.
  return random.below(2) === 0
    ? Buffer.from(requestOf("POST", "/v1/plan", { text: random.below(4) === 0 ? JSON.stringify(pod) : text }))
    : Buffer.from(requestOf("POST", "/v1/stop", { text }));
}

function noiseOf(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.below(2000) }, () => random.below(256)));
}

/** Now and then cut off, or with bytes changed. */
function mutated(bytes: Buffer, random: Random): Buffer {
  const kind = random.below(6);
  if (kind === 0) return bytes.subarray(0, random.below(bytes.length + 1));
  if (kind === 1)
    for (let changes = random.below(5); changes > 0 && bytes.length > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}
