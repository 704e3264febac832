/** A daemon's answers to the client, by path, for the record of what the client says. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { FRAME, frameOf } from "../../src/shared/frames/index.ts";

const NOW = 1_700_000_000_000;
const container = (name: string, more: object = {}) => ({
  ...{
    name,
    type: "normal",
    known: "RUNNING",
    desired: "RUNNING",
    restarts: 0,
    startedMs: NOW,
    generation: 1,
    id: `c-${name}`,
    reason: null,
    exit: null,
  },
  ...more,
});
const taskOf = (name: string, more: object = {}) => ({
  ...{
    id: `default.${name}.1`,
    group: "default",
    name,
    known: "RUNNING",
    desired: "RUNNING",
    digest: "sha256:0123456789abcdef0123",
    generation: 1,
  },
  ...{
    createdMs: NOW,
    waiting: null,
    addresses: [],
    reason: null,
    containers: [container("app"), container("störung\u0007", { known: "STOPPED" })],
  },
  ...more,
});
const eventOf = (sequence: number, more: object) =>
  `id: ${sequence}\nevent: e\ndata: ${JSON.stringify({ wallMs: NOW, group: "default", task: "default.web.1", name: "web", ...more })}\n\n`;
const EVENTS = [
  'event: gap\ndata: {"after":0,"next":2}\n\n',
  eventOf(2, { type: "added", digest: "sha256:0123456789abcdef0123" }),
  eventOf(3, {
    type: "container",
    container: "app",
    known: "RUNNING",
    exit: null,
    reason: { text: "änderte sich", cause: { text: "x\u001b" } },
  }),
  eventOf(4, { type: "removed", group: "other", name: "else" }),
  eventOf(5, { type: "container", container: "app", known: "STOPPED", exit: { unknown: false, code: 3, oomKilled: true }, reason: null }),
];
const record = (stream: string, tag: string, text: string) => `2026-01-31T12:00:00.000000001Z ${stream} ${tag} ${text}\n`;
const LOG = [
  record("stdout", "F", "one"),
  record("stderr", "P", "two, "),
  record("stderr", "F", "and on \u00e4"),
  record("runt", "F", "3 lines dropped"),
  "no record\n",
];
/** The same as frames with places. */
const FRAMES = Buffer.concat([
  frameOf(FRAME.stdout, Buffer.from("1-2-3- one\n")),
  frameOf(FRAME.stderr, Buffer.from("1-2-4- two, and on \u00e4\n[log] 3 lines dropped\n")),
]);
const FINDINGS = [{ code: "shape", message: "is no size", pointer: "/containers/0/memory", document: 0, line: 3, column: 5 }];

/** Its first container waits for its next start because a check has failed. */
const FAILING = {
  readiness: { state: "waits", why: "app has ended, and is to start again" },
  containers: [
    container("app", {
      known: "PULLED",
      restarts: 2,
      waitsForRestart: true,
      health: "UNKNOWN",
      lastRun: { id: "c-app", startedMs: 0, failedCheck: "liveness check 3 times in a row" },
      exit: { code: 137, signal: 9, oomKilled: false, unknown: false, endedWallMs: 0 },
    }),
  ],
};

/** Answers by path. Each answer comes in pieces. */
export function routes(asked: string[]): (request: IncomingMessage, response: ServerResponse, body: string) => void {
  return ({ method = "", url = "", headers }, response, body) => {
    const path = url.replace(/\?.*/, "");
    asked.push(`${method} ${url} ${headers["content-type"] ?? ""} ${body}`);
    const json = (value: object, status = 200) => {
      const bytes = Buffer.from(JSON.stringify(value));
      response.writeHead(status, { "content-type": "application/json" });
      response.write(bytes.subarray(0, bytes.length >> 1));
      response.end(bytes.subarray(bytes.length >> 1));
    };
    const pieces = (texts: readonly string[]) => {
      for (const byte of texts.join("").match(/[\s\S]{1,7}/g) ?? []) response.write(byte);
      response.end();
    };
    const found: Readonly<Record<string, () => void>> = {
      "GET /v1/tasks": () =>
        json({
          tasks: [
            taskOf("web"),
            taskOf("late", { waiting: ["room for 3 CPUs"], readiness: { state: "waits", why: "room" }, ports: ["0.0.0.0:80->8080/tcp"] }),
            taskOf("far", { group: "other", ...FAILING }),
          ],
        }),
      "GET /v1/orphans": () =>
        json({ orphans: [{ id: "o-1", group: null, name: null, container: null, generation: null, isRunning: true }] }),
      "GET /v1/node": () => json({ lastSequence: 5, host: { addresses: [] } }),
      "GET /v1/tasks/web": () => json(taskOf("web")),
      "GET /v1/tasks/default.web.1/detail": () => json({ spec: { containers: [] }, readiness: { state: "ready", why: "" } }),
      "GET /v1/events": () => pieces(EVENTS),
      "GET /v1/tasks/default.web.1/logs": () => {
        if (url.includes("format=records")) return pieces(LOG);
        for (const byte of FRAMES) response.write(Buffer.of(byte));
        response.end();
      },
      "GET /v1/images": () =>
        json({
          images: [
            {
              reference: "oci:/x",
              digest: "sha256:0123456789abcdef0123",
              sizeBytes: 5e6,
              pulledMs: NOW,
              tasks: [],
              isUsed: true,
              isKept: true,
            },
          ],
        }),
      "POST /v1/images/prune": () => json({ removed: ["oci:/x"], freedBytes: 12_345 }),
      "POST /v1/images/pull": () =>
        pieces([
          'event: progress\ndata: {"bytes":1,"total":2}\n\n',
          ": still here\n\n",
          `event: image\ndata: ${JSON.stringify({ reference: "oci:/x", digest: "sha256:00", via: "pulled", error: null })}\n\n`,
        ]),
      "GET /v1/interfaces": () => json({ interfaces: [{ name: "eth7", leftMs: 5000, task: null }] }),
      "POST /v1/interfaces": () => json({}),
      "DELETE /v1/interfaces/eth7%2F": () => json({}),
      "POST /v1/plan": () =>
        json({
          tasks: [
            {
              name: "web",
              change: "replaced",
              fields: [
                { pointer: "/a", before: 1 },
                { pointer: "/b", before: 1, after: "x" },
                { pointer: "/c", after: null },
              ],
            },
          ],
        }),
      "POST /v1/apply": () =>
        body.includes("wrong")
          ? json({ code: "invalid-spec", message: "no", findings: FINDINGS }, 422)
          : json({
              applied: [
                { id: "default.web.1", name: "web", change: "created" },
                { id: "x", name: "old", change: "absent" },
              ],
            }),
      "POST /v1/delete": () =>
        json({ tasks: [taskOf("web")], pools: [], forgotten: ["old"], missing: ["none\u0007"], others: [], volumes: ["v"] }),
      "POST /v1/stop": () => json({ tasks: [taskOf("web")], forgotten: [], missing: [], others: [] }),
      "POST /v1/restart": () => json({ tasks: [taskOf("web")], forgotten: [], missing: [], others: [], stopped: ["s"] }),
      "POST /v1/tasks/web/rollback": () => json({ id: "default.web.0" }),
      "POST /v1/tasks/web/restart": () => json({}),
    };
    const answer = found[`${method} ${path}`];
    if (answer === undefined) json({ code: "unknown-task", message: `there is no ${path}` }, 404);
    else answer();
  };
}
