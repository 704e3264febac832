/** Limits that keep slow clients, or thousands of clients, from exhausting the daemon. */
import type { ServerOptions } from "node:http";

/** Connections on one socket. Further ones are refused. Each socket has a limit of its own. */
export const MOST_CONNECTIONS = 1024;

/** Open event and log streams on one socket. */
export const MOST_SUBSCRIBERS = 256;
/** One client has no more than the sum of these two, half of all. */
export const SHARES_OF_SUBSCRIBERS = { free: 64, each: 64 };

/** Upgraded connections on one socket. Each of them holds a process or a file open. */
export const MOST_STREAMS = 128;

export const HTTP_LIMITS: ServerOptions = {
  /** Milliseconds for the headers of a request, and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};
