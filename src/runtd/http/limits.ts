/** What a client may take of the daemon: a slow one, or thousands of them, cost no more than this. */
import type { ServerOptions } from "node:http";

/** Of one socket. Whoever comes after that is turned away; the other socket has its own. */
export const MOST_CONNECTIONS = 1024;

/** Readers of the journal and of logs, on one socket. */
export const MOST_SUBSCRIBERS = 256;

/** Connections that were upgraded: each has a process or a file open. */
export const MOST_STREAMS = 128;

export const HTTP_LIMITS: ServerOptions = {
  /** For the head of a request, and for all of it. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};
