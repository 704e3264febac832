/** The routes behind one socket. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { z } from "zod";
import type { Engine } from "../../engine/index.ts";
import { refusalOf, refuse } from "./errors.ts";
import type { Asked, Route } from "./route.ts";

export interface AppOptions {
  /** May change something. */
  readonly isAdmin: boolean;
}

/** A file of tasks, and the JSON around it. */
const LARGEST_BODY = 4 * 1024 * 1024;

export function appOf(routes: readonly Route[], engine: Engine, { isAdmin }: AppOptions): Hono {
  const app = new Hono();
  for (const route of routes) {
    const path = route.path.replace(/\{(\w+)\}/g, ":$1");
    if (route.access === "admin" && !isAdmin)
      app.on(route.method, path, (context) => refuse(context, "read-only", "this socket is for reading: use admin.sock"));
    else app.on(route.method, path, limited, (context) => respond(route, context, engine));
  }
  app.notFound((context) => refuse(context, "unknown-path", `${context.req.method} ${context.req.path}: there is no such path`));
  app.onError(refusalOf);
  return app;
}

const limited = bodyLimit({
  maxSize: LARGEST_BODY,
  onError: (context) => refuse(context, "body-too-large", `the body is larger than ${LARGEST_BODY} bytes`),
});

async function respond(route: Route, context: Context, engine: Engine): Promise<Response> {
  const problems: string[] = [];
  const read = (part: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    const { success, data, error } = schema?.safeParse(value) ?? { success: true };
    if (!success) for (const { path, message } of error!.issues) problems.push(`${[part, ...path].join(".")}: ${message}`);
    return data;
  };
  const asked = {
    engine,
    context,
    params: read("path", route.params, context.req.param()),
    query: read("query", route.query, context.req.query()),
    body: read("body", route.body, route.body && (await context.req.json().catch(() => undefined))),
  } as Asked<Record<string, unknown>, Record<string, unknown>, unknown>;
  if (problems.length > 0) return refuse(context, "invalid-argument", problems.join("; "));
  if ("respond" in route) return route.respond(asked);
  return context.json((await route.handle(asked)) as object, route.answer.status);
}
