/** The HTTP application behind one socket. */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { refusalOf, refuse } from "./errors.ts";
import { boundedJson } from "./json.ts";
import type { Route, ValidRequest } from "./route.ts";
import type { Services } from "./services.ts";
import { validated } from "./validate.ts";

/** In bytes: a task file of 256 KiB, of which each character may be written as six, and the JSON around it. */
const LARGEST_BODY = 2 * 1024 * 1024;

export function appOf(routes: readonly Route[], services: Services): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const route of routes) {
    const path = route.path.replace(/\{(\w+)\}/g, ":$1");
    if (route.access === "admin" && !services.isAdmin)
      app.on(route.method, path, (context) => refuse(context, "read-only", "this socket is for reading: use admin.sock"));
    else
      app.on(route.method, path, limited, (context) => services.timings.measure(route.operation, () => respond(route, context, services)));
  }
  app.notFound((context) => refuse(context, "unknown-path", `${context.req.method} ${context.req.path}: there is no such path`));
  app.onError(refusalOf);
  return app;
}

const limited = bodyLimit({
  maxSize: LARGEST_BODY,
  onError: (context) => refuse(context, "body-too-large", `the body is larger than ${LARGEST_BODY} bytes`),
});

/** undefined: the body is no JSON that a request could have. */
async function jsonOf(context: Context): Promise<unknown> {
  try {
    return boundedJson(await context.req.text());
  } catch {
    return undefined;
  }
}

async function respond(route: Route, context: Context<{ Bindings: HttpBindings }>, services: Services): Promise<Response> {
  if ("open" in route) return refuse(context, "upgrade-required", "this request takes over the connection: ask with Connection: Upgrade");
  const body = route.body && (await jsonOf(context));
  const asked = {
    ...services,
    context,
    ...validated(route, { params: context.req.param(), query: context.req.query(), body }),
    caller: () => services.peers.of(context.env.incoming.socket),
  } as ValidRequest<Record<string, unknown>, Record<string, unknown>, unknown>;
  if ("respond" in route) return route.respond(asked);
  return context.json((await route.handle(asked)) as object, route.answer.status);
}
