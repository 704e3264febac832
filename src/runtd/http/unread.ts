/** Clients that ask and do not read the answer. Their answers would stay in memory. */
import type { Server } from "node:http";

/** Milliseconds in which the kernel has to take a whole answer, which is when its client has read most of it. Streams that go on (events, logs) are no such answers. */
const UNREAD_MS = 30_000;

export function cutOffUnread(server: Server): void {
  // Before the listener that answers, which may do so at once.
  server.prependListener("request", (request, response) => {
    response.once("prefinish", () => {
      const timer = setTimeout(() => request.socket.destroy(), UNREAD_MS).unref();
      response.once("close", () => clearTimeout(timer));
    });
  });
}
