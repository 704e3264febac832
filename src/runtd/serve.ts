/** The daemon: an engine that serves two sockets. Containers are not children of this process, so that they outlive it. */
import type { Server } from "node:http";
import { join } from "node:path";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type EngineSettings, TaskEngine } from "../engine/index.ts";
import { boundedJson } from "../shared/text/index.ts";
import { forgetPassedSockets, passedSockets } from "./activation.ts";
import { type Configuration, socketsOf } from "./config.ts";
import { EventLoop } from "./event-loop.ts";
import { refusalOf, refuse } from "./http/errors.ts";
import { HTTP_LIMITS, MOST_CONNECTIONS, MOST_STREAMS, MOST_SUBSCRIBERS, SHARES_OF_SUBSCRIBERS } from "./http/limits.ts";
import type { Route, ValidRequest } from "./http/route.ts";
import { validated } from "./http/route.ts";
import type { Services } from "./http/services.ts";
import { Slots } from "./http/slots.ts";
import { Timings } from "./http/timings.ts";
import { addUpgrades } from "./http/upgrade.ts";
import { Calls } from "./interlink/calls.ts";
import { interlinkServer, listenForInterlink } from "./interlink/server.ts";
import { goOnAfterErrors, logServerErrors } from "./last-handlers.ts";
import { log } from "./log.ts";
import { ServiceManager } from "./notify.ts";
import { Files } from "./parsing/files.ts";
import { Peers } from "./peers.ts";
import { Logins } from "./registries/logins.ts";
import { ROUTES } from "./routes/index.ts";
import { listenAt, makeSocketDirectory, type RemoveSocket } from "./sockets.ts";
import { Watch } from "./watch/watch.ts";

/** Waits until runt is installed. `probe` is for tests. @throws StoreError, ExecutorError, SocketInUseError */
export async function serve(configuration: Configuration, { probe }: Pick<EngineSettings, "probe"> = {}): Promise<void> {
  // New sockets and files are private until their mode is set.
  process.umask(0o077);
  goOnAfterErrors();
  const { runDir, interlink } = configuration;
  const { stateDir } = configuration.engine;
  // Before anything is changed: a unit that passes something else is wrong.
  const passed = passedSockets(process.env, [
    "admin",
    "read",
    ...(interlink === undefined || interlink.listen !== undefined ? [] : ["interlink"]),
  ]);
  forgetPassedSockets(process.env);
  const manager = new ServiceManager();
  const engine = await new TaskEngine({
    ...configuration.engine,
    namespaceDir: join(runDir, "networks"),
    usersDir: runDir,
    isOwnProcess: true,
    log,
    ...(probe === undefined ? {} : { probe }),
  }).init();
  const peers = new Peers(engine.binary);
  const timings = new Timings();
  const files = new Files();
  const eventLoop = new EventLoop();
  const watch = new Watch({ engine, files, ...configuration.watch });
  const logins = new Logins({ credentials: configuration.engine.images?.credentials ?? {}, directory: join(runDir, "login") });
  makeSocketDirectory(runDir);
  const sockets = socketsOf(configuration);
  const servers: Server[] = [];
  const removals: RemoveSocket[] = [];
  const places: string[] = [];
  for (const [name, file] of Object.entries(sockets)) {
    const services: Services = {
      ...{ engine, stateDir, peers, timings, files, eventLoop, watch, logins, isAdmin: name === "admin" },
      subscribers: new Slots(MOST_SUBSCRIBERS, SHARES_OF_SUBSCRIBERS),
      streams: new Slots(MOST_STREAMS),
    };
    const server = createAdaptorServer({ fetch: appOf(ROUTES, services).fetch, serverOptions: HTTP_LIMITS }) as Server;
    server.maxConnections = MOST_CONNECTIONS;
    addUpgrades(server, ROUTES, services);
    const { place, remove } = await listenAt(server, file, passed.get(name));
    places.push(place);
    removals.push(remove);
    servers.push(server);
  }
  if (interlink !== undefined) {
    const server = interlinkServer({ calls: new Calls(engine, files, interlink.rules), guard: interlink.listen });
    const { place, remove } = await listenForInterlink(server, interlink, runDir, passed.get("interlink"));
    places.push(place);
    removals.push(remove);
    servers.push(server);
  }
  const end = (signal: NodeJS.Signals) => {
    log("info", "ending", { signal });
    manager.stopping();
    watch.stop();
    for (const server of servers) server.close();
    for (const remove of removals) remove();
    engine.close();
    // Actions in progress continue without this process, and the next daemon finds their results.
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, end);
  for (const server of servers) {
    logServerErrors(server);
    cutOffUnread(server);
  }
  watch.start();
  await manager.ready(engine.binary);
  log("info", "ready", { sockets: places, pid: process.pid });
}

/** The HTTP application behind one socket. */

/** Maximum size of a body, in bytes: a task file of 256 KiB, each character of which may be written as six, and the JSON around it. */
const LARGEST_BODY = 2 * 1024 * 1024;

function appOf(routes: readonly Route[], services: Services): Hono<{ Bindings: HttpBindings }> {
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

/** undefined: the body is no JSON, or exceeds the limits of a request. */
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

/** Clients that ask and do not read the answer. Their answers would stay in memory. */

/**
 * Milliseconds in which the kernel has to take a whole answer, so that answers to clients that do not read them do not fill the memory. Streams
 * (events, logs) have no such limit.
 */
const UNREAD_MS = 30_000;

function cutOffUnread(server: Server): void {
  // Prepended, because the listener that answers may do so at once.
  server.prependListener("request", (request, response) => {
    response.once("prefinish", () => {
      const timer = setTimeout(() => request.socket.destroy(), UNREAD_MS).unref();
      response.once("close", () => clearTimeout(timer));
    });
  });
}
