/** The daemon: an engine that serves two sockets. Containers are not children of this process, so that they outlive it. */
import type { Server } from "node:http";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { type EngineSettings, TaskEngine } from "../engine/index.ts";
import { type Configuration, socketsOf } from "./config.ts";
import { EventLoop } from "./event-loop.ts";
import { appOf } from "./http/app.ts";
import { HTTP_LIMITS, MOST_CONNECTIONS, MOST_STREAMS, MOST_SUBSCRIBERS, SHARES_OF_SUBSCRIBERS } from "./http/limits.ts";
import type { Services } from "./http/services.ts";
import { Slots } from "./http/slots.ts";
import { Timings } from "./http/timings.ts";
import { cutOffUnread } from "./http/unread.ts";
import { addUpgrades } from "./http/upgrade.ts";
import { Calls } from "./interlink/calls.ts";
import { listenForInterlink } from "./interlink/listen.ts";
import { interlinkServer } from "./interlink/server.ts";
import { goOnAfterErrors, logServerErrors } from "./last-handlers.ts";
import { log } from "./log.ts";
import { managerMessage } from "./notify.ts";
import { Files } from "./parsing/files.ts";
import { Peers } from "./peers.ts";
import { ROUTES } from "./routes/index.ts";
import { listenOn, makeSocketDirectory, type RemoveSocket } from "./sockets.ts";

/** Waits until runt is installed. `probe` is for tests. @throws StoreError, ExecutorError, SocketInUseError */
export async function serve(configuration: Configuration, { probe }: Pick<EngineSettings, "probe"> = {}): Promise<void> {
  // New sockets and files are private until their mode is set.
  process.umask(0o077);
  goOnAfterErrors();
  const { runDir, interlink } = configuration;
  const { stateDir } = configuration.engine;
  const tellReady = managerMessage(["READY=1", `MAINPID=${process.pid}`]);
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
  makeSocketDirectory(runDir);
  const sockets = socketsOf(configuration);
  const servers: Server[] = [];
  const removals: RemoveSocket[] = [];
  for (const [name, file] of Object.entries(sockets)) {
    const services: Services = {
      ...{ engine, stateDir, peers, timings, files, eventLoop, isAdmin: name === "admin" },
      subscribers: new Slots(MOST_SUBSCRIBERS, SHARES_OF_SUBSCRIBERS),
      streams: new Slots(MOST_STREAMS),
    };
    const server = createAdaptorServer({ fetch: appOf(ROUTES, services).fetch, serverOptions: HTTP_LIMITS }) as Server;
    server.maxConnections = MOST_CONNECTIONS;
    addUpgrades(server, ROUTES, services);
    removals.push(await listenOn(server, file));
    servers.push(server);
  }
  const places = Object.values(sockets).map(({ path }) => path);
  if (interlink !== undefined) {
    const server = interlinkServer({ calls: new Calls(engine, files, interlink.rules), guard: interlink.listen });
    const { place, remove } = await listenForInterlink(server, interlink, runDir);
    places.push(place);
    removals.push(remove);
    servers.push(server);
  }
  const end = (signal: NodeJS.Signals) => {
    log("info", "ending", { signal });
    for (const server of servers) server.close();
    for (const remove of removals) remove();
    engine.close();
    // Actions in progress continue without this process, and the next daemon finds their results.
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  for (const server of servers) {
    logServerErrors(server);
    cutOffUnread(server);
  }
  await tellReady(engine.binary);
  log("info", "ready", { sockets: places, pid: process.pid });
}
