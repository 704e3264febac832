/** The HTTP interface: the same answers on both sockets, and changes on the admin socket only. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Engine, EngineError, type EngineErrorCode, StoreError } from "../engine/index.ts";
import { eventStream } from "./events.ts";
import { factsOf, log } from "./log.ts";
import { exposition, METRICS_TYPE } from "./metrics.ts";
import { samplesOf } from "./samples.ts";

export interface ApiOptions {
  /** May change something. */
  readonly isAdmin: boolean;
}

const STATUS: Readonly<Record<EngineErrorCode, 404 | 409 | 422>> = {
  "invalid-spec": 422,
  "unknown-task": 404,
  "changed-spec": 409,
  "not-running": 409,
};

/** A file of tasks, and the JSON around it. */
const LARGEST_BODY = 4 * 1024 * 1024;
const DEFAULT_GROUP = "default";

export function api(engine: Engine, { isAdmin }: ApiOptions): Hono {
  const app = new Hono();
  app.get("/v1/node", (context) => context.json(engine.node));
  app.get("/v1/tasks", (context) => context.json({ tasks: engine.list() }));
  app.get("/v1/tasks/:name", (context) => context.json(engine.get(context.req.param("name"), groupOf(context))));
  app.get("/v1/events", (context) => eventStream(context, engine));
  app.get("/v1/metrics", (context) => context.body(exposition(samplesOf(engine)), 200, { "content-type": METRICS_TYPE }));
  if (isAdmin) addChanges(app, engine);
  else app.on(["POST", "DELETE"], "*", (context) => refuse(context, 403, "read-only", "this socket is for reading: use admin.sock"));
  app.notFound((context) => refuse(context, 404, "unknown-path", `${context.req.method} ${context.req.path}: there is no such path`));
  app.onError((error, context) => {
    if (error instanceof EngineError)
      return context.json({ code: error.code, message: error.message, ...error.details }, STATUS[error.code]);
    if (error instanceof StoreError) return refuse(context, 503, error.code, error.message);
    log("error", "request-failed", { method: context.req.method, path: context.req.path, ...factsOf(error) });
    return refuse(context, 500, "internal", error.message);
  });
  return app;
}

function addChanges(app: Hono, engine: Engine): void {
  app.post("/v1/apply", bodyLimit({ maxSize: LARGEST_BODY }), async (context) => {
    const body = (await context.req.json().catch(() => null)) as { text?: unknown; group?: unknown } | null;
    const { text, group = DEFAULT_GROUP } = body ?? {};
    if (typeof text !== "string" || typeof group !== "string" || !isGroup(group)) {
      return refuse(
        context,
        400,
        "invalid-argument",
        "the body is { text, group }: the text of a file of tasks, and 1 to 63 of A-Z a-z 0-9 _ -",
      );
    }
    const applied = await engine.apply(text, group);
    log("info", "applied", { group, tasks: applied });
    return context.json({ applied });
  });
  app.delete("/v1/tasks/:name", async (context) => {
    const id = await engine.delete(context.req.param("name"), groupOf(context));
    log("info", "delete-asked", { task: id });
    return context.json({ id }, 202);
  });
}

function groupOf(context: Context): string {
  return context.req.query("group") ?? DEFAULT_GROUP;
}

/** It becomes part of ids. */
function isGroup(group: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/.test(group);
}

function refuse(context: Context, status: 400 | 403 | 404 | 500 | 503, code: string, message: string): Response {
  return context.json({ code, message }, status);
}
