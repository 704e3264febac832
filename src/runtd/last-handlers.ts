/** What happens to errors that no other handler has got: they are logged and counted, and the daemon goes on. */
import type { Server } from "node:http";
import { factsOf, log } from "./log.ts";

let count = 0;

/** Errors that only a last handler has got, since the start. Each is a defect of this program. */
export function unexpectedErrors(): number {
  return count;
}

/**
 * Sets the last handlers of this process. By default Node ends a process whose promise was rejected without a handler. All tasks of the host need this one, and a
 * request or an event that leads to a defect must not end it.
 */
export function goOnAfterErrors(): void {
  process.on("uncaughtException", (error) => tell("uncaught-exception", error));
  process.on("unhandledRejection", (error) => tell("unhandled-rejection", error));
  // What reads the log may be gone. Then there is nobody to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** An error of a server that listens is one of accept(2), as when this process has no descriptors left. */
export function logServerErrors(server: Server): void {
  server.on("error", (error) => log("error", "not-accepted", factsOf(error)));
}

function tell(event: string, error: unknown): void {
  count++;
  const stack = error instanceof Error ? { stack: error.stack } : {};
  log("error", event, { ...factsOf(error), ...stack });
}
