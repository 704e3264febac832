/** What every client of the daemon does in the same way, runtctl among them, in which there is no Node: sockets, errors, events, and records of logs. */
export { ClientError, connectionError, type ErrorFacts, failureIn, frameObject, noDaemon, parsedOr, refusal } from "./errors.ts";
export { linesOf, type Placed, placedLines } from "./lines.ts";
export { type ServerEvent, serverEvents } from "./server-events.ts";
export { type SocketChoice, type Sockets, socketsIn } from "./sockets.ts";
