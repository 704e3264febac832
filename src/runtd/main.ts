#!/usr/bin/env node
/** The daemon: an engine behind two sockets. Its containers are no children of it, and go on whatever happens to it. */
import { rmSync } from "node:fs";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Engine } from "../engine/index.ts";
import { type Configuration, configurationOf, socketsOf, USAGE } from "./config.ts";
import { appOf } from "./http/app.ts";
import { factsOf, log } from "./log.ts";
import { ROUTES } from "./routes/index.ts";
import { listenOn, makeSocketDirectory } from "./sockets.ts";

/** sysexits(3) */
const USAGE_STATUS = 64;

/** @throws StoreError, ExecutorError, SocketInUseError */
async function serve(configuration: Configuration): Promise<void> {
  // Sockets and files are nobody else's until their mode says otherwise.
  process.umask(0o077);
  const { stateDir, runtime, cgroupParent, taskLimits, launchTimeoutMs, capacity, queue, runDir } = configuration;
  const engine = await Engine.open({ stateDir, runtime, cgroupParent, taskLimits, launchTimeoutMs, capacity, queue, log });
  makeSocketDirectory(runDir);
  const sockets = socketsOf(configuration);
  const servers: Server[] = [];
  for (const [name, file] of Object.entries(sockets)) {
    const server = createAdaptorServer({ fetch: appOf(ROUTES, engine, { isAdmin: name === "admin" }).fetch }) as Server;
    await listenOn(server, file);
    servers.push(server);
  }
  const end = (signal: NodeJS.Signals) => {
    log("info", "ending", { signal });
    for (const server of servers) server.close();
    for (const { path } of Object.values(sockets)) rmSync(path, { force: true });
    engine.close();
    // What is being done for a task goes on without this process; the next one looks it up.
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  log("info", "ready", { sockets: Object.values(sockets).map(({ path }) => path), pid: process.pid });
}

let configuration: Configuration | undefined;
try {
  configuration = configurationOf(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`runtd: ${(error as Error).message}\n${USAGE}`);
  process.exit(USAGE_STATUS);
}
if (configuration === undefined) process.stdout.write(USAGE);
else {
  await serve(configuration).catch((error) => {
    log("error", "not-started", factsOf(error));
    process.exit(1);
  });
}
