/** What the client says and asks, as it did when this was recorded (test/golden/client-words.json; with RUNT_RENEW=1 it is recorded anew: read the difference). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { VERBS } from "../../src/runtctl/verbs/index.ts";
import { FRAME, frameOf } from "../../src/shared/frames/index.ts";
import { REPOSITORY } from "../support/programs.ts";
import { answering, type Run, type Told, told } from "./answering.ts";
import { RUNTCTL } from "./client-programs.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-client-words-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const TASK = "name: web\ncontainers: [{ name: app, rootfs: /r, command: /bin/true }]\n";

const RECORD = join(REPOSITORY, "test/golden/client-words.json");
const isRenewed = process.env["RUNT_RENEW"] === "1";
const recorded = (isRenewed ? {} : JSON.parse(readFileSync(RECORD, "utf8"))) as Record<string, unknown>;
afterAll(() => {
  const sorted = Object.fromEntries(Object.entries(recorded).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (isRenewed) writeFileSync(RECORD, `${JSON.stringify(sorted, null, 1)}\n`);
});

/** Without what differs from run to run: the directory, sockets, names that were made up, the version and ages. */
function lasting(text: string): string {
  return text
    .replaceAll(directory, "DIRECTORY")
    .replaceAll(/\/\S*runt-answering-\w+/g, "DIRECTORY")
    .replaceAll(/\brun-\w+-\w+/g, "run-NAME")
    .replaceAll(/\b\d+d\b/g, "AGE")
    .replaceAll(/\d\d:\d\d:\d\d(?= {2})/g, "TIME")
    .replace(/^\d+\.\d+\.\d+$/m, "VERSION");
}

/** Holds what was said, and asked of the daemon, against the record. */
function asRecorded(words: readonly string[], { input }: Run, said: Told, asked: readonly string[] = []): Told {
  const name = lasting(`${words.join(" ")}${input === undefined ? "" : ` < ${input.length} bytes`}`);
  const value = { status: said.status, stdout: lasting(said.stdout), stderr: lasting(said.stderr), asked: asked.map(lasting) };
  if (isRenewed) recorded[name] = value;
  else expect({ name, ...value }).toEqual({ name, ...(recorded[name] as object) });
  return said;
}

async function same(words: readonly string[], options: Run = {}): Promise<Told> {
  return asRecorded(words, options, await told(RUNTCTL, words, options));
}

/** Some at a time: each takes a processor. */
async function each<T>(list: readonly T[], check: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < list.length; at += 4) await Promise.all(list.slice(at, at + 4).map(check));
}

const NONE = ["-s", join(directory, "none")];

test("help, version and completions", async () => {
  for (const words of [["--help"], ["help"]]) expect(await told(RUNTCTL, words)).toMatchObject({ status: 0, stderr: "" });
  await each(VERBS, async ({ name }) => {
    const help = await told(RUNTCTL, [name, "--help"]);
    expect(help).toEqual({ status: 0, stdout: expect.stringContaining(`Usage: runtctl ${name} `), stderr: "" });
    expect(await told(RUNTCTL, ["help", name])).toEqual(help);
  });
  expect((await told(RUNTCTL, ["-g", "a", "get", "--help"])).stdout).toBe((await told(RUNTCTL, ["get", "--help"])).stdout);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { status, stdout } = await told(RUNTCTL, ["completion", shell]);
    expect([status, VERBS.filter(({ name }) => !stdout.includes(name))]).toEqual([0, []]);
  }
  expect((await told(RUNTCTL, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("usage errors", async () => {
  const wrong = [
    ...[["apply"], ["apply", "-f", "x", "--timeout", "1m"], ["apply", "-f", "x", "--wait", "--timeout", "soon"], ["completion", "tcsh"]],
    ...[
      ["run"],
      ["run", "--image", "oci:/x", "-p", "x"],
      ["run", "--image", "oci:/x", "-p", "[::1]:1:2:3"],
      ["run", "--image", "oci:/x", "-e", "UNSET"],
    ],
    ...[
      ["run", "--image", "oci:/x", "-v", "a:b"],
      ["run", "--image", "oci:/x", "--cpus", "-1"],
      ["run", "-d", "-i", "--image", "oci:/x"],
    ],
    ...[
      ["logs", "t", "-n", "x"],
      ["logs", "t", "--since", "then"],
      ["events", "--since", "-1"],
      ["get", "-w", "-o", "json"],
      ["get", "-o", "xml"],
    ],
    ...[["delete"], ["stop", "a", "--all"], ["restart", "-c", "x"], ["images", "prune", "--most", "0"], ["images", "--most", "1"]],
    ...[
      ["interfaces", "attach"],
      ["interfaces", "attach", "a", "--for", "0s"],
      ["interfaces", "list", "a"],
      ["top", "-i", "0"],
      ["exec", "t"],
    ],
    ...[
      ["exec", "t", "-e", "x", "--", "sh"],
      ["port-forward", "t", "x"],
      ["images", "prune", "--unused", "11y"],
    ],
  ];
  const ofVerbs = VERBS.flatMap(({ name }) => [
    [name, "--nonsense"],
    [name, "a", "b", "c", "d"],
  ]);
  const global = [["gte"], ["--nonsense"], ["-s"], ["ps"]];
  await each([...global, ...[...ofVerbs, ...wrong].map((words) => [...NONE, ...words])], (words) => same(words));
  for (const words of [[], ["help", "gte"]])
    expect(await told(RUNTCTL, words)).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining("Usage: runtctl ") });
});

test("files that are none, and what comes from the standard input", async () => {
  const apply = (path: string) => [...NONE, "apply", "-f", path];
  await each([join(directory, "absent"), directory, "", "/dev/null/x", file("large.yaml", "#".repeat(5 << 20))], (path) =>
    same(apply(path)),
  );
  await same(apply("-"), { input: "services: { web: 1 }\n" });
  await same(apply("-"), { input: "x".repeat(5 << 20) });
  const compose = file("compose.yaml", "services: { web: { image: 7, nonsense: 1 } }\n");
  expect((await same(apply(compose))).stderr).toContain("compose.yaml:1:");
  expect((await same(["validate", "-f", "-"], { input: `${TASK}nonsense: 1\n` })).stderr).toContain("stdin:3:1");
});

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
function routes(asked: string[]): (request: IncomingMessage, response: ServerResponse, body: string) => void {
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
      "POST /v1/delete": () => json({ tasks: [taskOf("web")], forgotten: ["old"], missing: ["none\u0007"], others: [], volumes: ["v"] }),
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

/** Of a daemon that answers. */
async function sameOf(words: readonly string[], options: Run = {}): Promise<Told> {
  const asked: string[] = [];
  const socket = await answering(routes(asked));
  return asRecorded(["with a daemon:", ...words], options, await told(RUNTCTL, ["-s", socket, ...words], options), asked);
}

test("what the daemon answers to each verb", async () => {
  const [good, bad] = [file("good.yaml", TASK), file("bad.yaml", `${TASK}# wrong \u00fc\n`)];
  await each(
    [
      ...[
        ["get"],
        ["get", "-o", "wide"],
        ["get", "-o", "json"],
        ["get", "-o", "yaml"],
        ["get", "-o", "name"],
        ["get", "web"],
        ["get", "web", "-o", "json"],
      ],
      ...[
        ["get", "none"],
        ["get", "none", "-o", "json"],
        ["-g", "other", "get"],
        ["-g", "nobody's & more", "get"],
      ],
      ...[["events"], ["events", "web", "-o", "json"], ["events", "-A", "--since", "2"], ["events", "--since", "5"]],
      ...[
        ["logs", "web", "-c", "app"],
        ["logs", "web"],
        ["logs", "web", "-t", "-n", "5", "--previous"],
        ["logs", "web", "-c", "none"],
        ["logs", "n/o?"],
        ["logs"],
      ],
      ...[["images"], ["images", "-o", "json"], ["images", "prune", "--unused", "1h30m", "--most", "3"], ["images", "prune", "-o", "json"]],
      ...[
        ["interfaces"],
        ["interfaces", "-o", "json"],
        ["interfaces", "attach", "eth7", "--for", "90s"],
        ["interfaces", "detach", "eth7/"],
      ],
      ...[
        ["pull", "oci:/x"],
        ["pull", "-q", "oci:/x", "--policy", "refresh-always"],
        ["plan", "-f", good, "--exit-code"],
        ["plan", "-f", good, "-o", "json"],
      ],
      ...[
        ["apply", "-f", good],
        ["apply", "-f", good, "--prune", "--rerun", "--wait"],
        ["apply", "-f", bad],
        ["apply", "-f", bad, "-p", "shop"],
      ],
      ...[
        ["delete", "web", "--no-wait", "--volumes"],
        ["delete", "--all", "--no-wait"],
        ["delete", "-f", good, "--no-wait"],
        ["stop", "web", "--no-wait"],
      ],
      ...[["restart", "web"], ["restart", "web", "-c", "app", "-c", "b"], ["rollback", "web"], ["rollback", "none"], ["volumes"]],
      ...[
        ["run", "-d", "--name", "web", "--image", "oci:/x"],
        ["run", "--name", "none", "--image", "oci:/x", "--", "wrong"],
      ],
    ],
    (words) => sameOf(words),
  );
  expect((await sameOf(["apply", "-f", "-"], { input: TASK })).stdout).toBe("task web created\n- task old is not in the file\n");
  expect((await sameOf(["logs", "web", "-c", "app"])).stderr).toContain("two, and on \u00e4\n");
});
