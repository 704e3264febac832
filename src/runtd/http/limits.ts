/** Bounds for clients: they keep slow clients, and thousands of clients, from exhausting the daemon. */
import type { ServerOptions } from "node:http";

/** Connections of one socket. Further connections are refused. Each socket has its own bound. */
export const MOST_CONNECTIONS = 1024;

/** Open event and log streams on one socket. */
export const MOST_SUBSCRIBERS = 256;

/** Upgraded connections on one socket. Each of them holds a process or a file open. */
export const MOST_STREAMS = 128;

export const HTTP_LIMITS: ServerOptions = {
  /** Time-outs for the head of a request and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};
