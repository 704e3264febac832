/** Handles errors that no other handler has caught: logs and counts them, so that the daemon continues. */
import type { Server } from "node:http";
import { factsOf, log } from "./log.ts";

let count = 0;

/** Number of such errors since the start. Each is a defect of this program. */
export function unexpectedErrors(): number {
  return count;
}

/**
 * Sets the last handlers of this process. By default Node ends a process with an uncaught error or an unhandled rejection. But all tasks of the
 * host depend on this process, and a request or an event that hits a defect must not end it.
 */
export function goOnAfterErrors(): void {
  process.on("uncaughtException", (error) => tell("uncaught-exception", error));
  process.on("unhandledRejection", (error) => tell("unhandled-rejection", error));
  // The reader of the log may have ended. Then the error cannot be reported.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** An error of a listening server comes from accept(2), for example because this process has no free descriptors. */
export function logServerErrors(server: Server): void {
  server.on("error", (error) => log("error", "not-accepted", factsOf(error)));
}

function tell(event: string, error: unknown): void {
  count++;
  const stack = error instanceof Error ? { stack: error.stack } : {};
  log("error", event, { ...factsOf(error), ...stack });
}
