/** A call has one deadline for all that it waits for. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { clientOf } from "./client.ts";
import { followEvents } from "./event-stream.ts";
import { endIn } from "./platform/index.ts";
import { autoupdate } from "./verbs/autoupdate.ts";
import { remove } from "./verbs/delete.ts";
import { scale } from "./verbs/scale.ts";

/** Stands for the daemon: nothing of what is asked for ever ends. */
async function daemon(answers: Readonly<Record<string, object | "never">> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "runt-deadline-"));
  const socket = join(directory, "socket");
  const asked: string[] = [];
  const readers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    asked.push(`${request.method} ${path}`);
    if (path === "/v1/events") return void readers.push(response.writeHead(200, { "content-type": "text/event-stream" }));
    if (path === "/v1/node") return void response.end('{"lastSequence":7}');
    const answer = answers[`${request.method} ${path}`] ?? {};
    if (answer !== "never") response.end(JSON.stringify(answer));
  });
  server.on("request", () => readers.at(-1)?.flushHeaders());
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, "write").mockReturnValue(true));
  onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()));
  const session = { client: clientOf([socket]), sockets: [socket], group: "g" } as const;
  return { session, readers, asked, count: (what: string) => asked.filter((one) => one === what).length };
}

const service = (name: string) => ({ name, group: "g", revision: 2, state: "progressing", reason: null, replicas: [], history: [] });
const SERVICES = Object.fromEntries(["a", "b", "c"].map((name) => [`GET /v1/rollouts/${name}`, service(name)]));

test("R13 autoupdate --wait --timeout: the time counts for all services together", async () => {
  const updates = ["a", "b", "c"].map((name) => ({ group: "g", name, container: "c", image: "i", from: "1", to: "2", state: "updating" }));
  const all = { updates: updates.map((one) => ({ ...one, revision: 2, reason: null })) };
  const { session, count } = await daemon({ ...SERVICES, "POST /v1/autoupdate": all });
  expect(await autoupdate.run(session, [], { wait: true, timeout: "300ms" })).toBe(1);
  expect(["a", "b", "c"].map((name) => count(`GET /v1/rollouts/${name}`) > 0)).toEqual([true, true, true]);
  expect(count("GET /v1/events")).toBe(1);
});

test("R13 autoupdate --wait --timeout: the time counts for registries and pulls, too", async () => {
  const { session } = await daemon({ "POST /v1/autoupdate": "never" });
  await expect(autoupdate.run(session, [], { wait: true, timeout: "200ms" })).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("no further one begins"),
  });
});

test("scale --wait --timeout: all services are changed before the wait, which is one for all", async () => {
  const scaled = Object.fromEntries(["a", "b"].map((name) => [`POST /v1/rollouts/${name}/scale`, { revision: 2 }]));
  const { session, asked, count } = await daemon({ ...SERVICES, ...scaled });
  expect(await scale.run(session, ["a=2", "b=3"], { wait: true, timeout: "300ms" })).toBe(1);
  expect(asked.indexOf("POST /v1/rollouts/b/scale")).toBeLessThan(asked.indexOf("GET /v1/events"));
  expect(count("GET /v1/events")).toBe(1);
});

test("delete --timeout: tasks and pools have the same time", async () => {
  const answer = { tasks: [{ id: "g.t.1", name: "t" }], pools: ["p"], forgotten: [], missing: [], others: [], volumes: [] };
  const { session, count } = await daemon({
    "POST /v1/delete": answer,
    "GET /v1/tasks/g.t.1": { id: "g.t.1", name: "t", known: "RUNNING" },
    "GET /v1/pools": { pools: [{ name: "p", state: "ending" }] },
  });
  expect(await remove.run(session, ["t"], { wait: true, timeout: "500ms" })).toBe(1);
  expect(count("GET /v1/pools")).toBe(1);
});

test("a daemon that always has something to tell does not prolong a wait", async () => {
  const { session, readers } = await daemon();
  const end = endIn(200);
  const events = followEvents(session.sockets, 7, { end });
  const tell = setInterval(() => readers.at(-1)?.write('id: 8\nevent: x\ndata: {"type":"x"}\n\n'.repeat(2)), 1);
  onTestFinished(() => clearInterval(tell));
  let late = 0;
  for await (const _ of events) {
    // What reads one event takes time, in which the next one comes.
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (end.aborted && ++late > 10) break;
  }
  expect(late).toBeLessThan(2);
});
