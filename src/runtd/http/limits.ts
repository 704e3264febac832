/** Limits that keep slow clients, or thousands of clients, from exhausting the daemon. */
import type { ServerOptions } from "node:http";

/** Maximum number of connections on each socket. Further ones are refused. */
export const MOST_CONNECTIONS = 1024;

/** Maximum number of open event and log streams on each socket. */
export const MOST_SUBSCRIBERS = 256;
/** The first `free` slots go to any client. Of the others each client gets `each`, so that one client has at most half of all slots. */
export const SHARES_OF_SUBSCRIBERS = { free: 64, each: 64 };

/** Maximum number of upgraded connections on each socket. Each keeps a process or a file open. */
export const MOST_STREAMS = 128;

export const HTTP_LIMITS: ServerOptions = {
  /** Milliseconds for the headers of a request, and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};
