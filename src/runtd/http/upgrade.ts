/** Handles upgrade requests, which take over their connection. */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { STREAM_PROTOCOL } from "../../shared/frames/index.ts";
import { factsOf, log } from "../log.ts";
import { closeSocket, FrameStream } from "../streams/frame-stream.ts";
import { type ErrorCode, errorOf, statusOf } from "./errors.ts";
import type { AnyStreamRoute, Route } from "./route.ts";
import { validated } from "./route.ts";
import type { Services } from "./services.ts";
import { during } from "./slots.ts";

type Refuse = (code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) => void;

export function addUpgrades(server: Server, routes: readonly Route[], services: Services): void {
  const streams = routes.filter((route) => "open" in route);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Without a listener, an error of the socket would end the daemon. No answer is sent, because the client has disconnected.
    socket.on("error", () => socket.destroy());
    const begin = accept(request, (code, message, details = {}) => refuseOn(socket, code, { code, message, ...details }));
    if (begin === undefined) return;
    socket.write(`HTTP/1.1 101 ${STATUS_CODES[101]}\r\nConnection: Upgrade\r\nUpgrade: ${STREAM_PROTOCOL}\r\n\r\n`);
    if (head.length > 0) socket.unshift(head);
    during(
      () => services.streams.take(),
      () => begin(new FrameStream(socket)),
    ).catch((error) => {
      log("error", "stream-failed", factsOf(error));
      socket.destroy();
    });
  });

  /** undefined: the request was refused, which has been answered. */
  function accept(request: IncomingMessage, refuse: Refuse): ((stream: FrameStream) => Promise<void>) | undefined {
    try {
      return opened(request, refuse);
    } catch (error) {
      const { code, message, details } = errorOf(error);
      return void refuse(code, message, details);
    }
  }

  function opened(request: IncomingMessage, refuse: Refuse): ((stream: FrameStream) => Promise<void>) | undefined {
    const target = request.url ?? "";
    const url = urlOf(target);
    const found = url && matchRoute(streams, request.method ?? "", url.pathname);
    if (url === undefined || found === undefined)
      return void refuse("unknown-path", `${request.method} ${(url?.pathname ?? target).slice(0, LONGEST_QUOTE)} cannot be upgraded`);
    if (!services.isAdmin) return void refuse("read-only", "this socket is for reading: use admin.sock");
    if (request.headers.upgrade !== STREAM_PROTOCOL) return void refuse("upgrade-required", `ask with Upgrade: ${STREAM_PROTOCOL}`);
    if (services.streams.isFull) return void refuse("too-many", `${services.streams.most} streams are open`);
    const parts = validated(found.route, { params: found.params, query: Object.fromEntries(url.searchParams) });
    const caller = () => services.peers.of(request.socket as Socket);
    return found.route.open({ ...services, ...parts, caller } as Parameters<AnyStreamRoute["open"]>[0]);
  }
}

/** Maximum number of characters of a request's text that a message repeats. */
const LONGEST_QUOTE = 200;

/**
 * undefined: the target of the request is neither a path nor a URL. Source: RFC 9112, 3.2. A path may begin with "//", which a URL reads as the
 * name of a host.
 */
function urlOf(target: string): URL | undefined {
  const text = target.startsWith("/") ? `http://runtd${target}` : target;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function matchRoute(routes: readonly AnyStreamRoute[], method: string, path: string) {
  for (const route of routes) {
    const pattern = new RegExp(`^${route.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
    const params = route.method === method.toLowerCase() ? pattern.exec(path)?.groups : undefined;
    if (params !== undefined)
      return { route, params: Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decoded(text)])) };
  }
  return undefined;
}

/** Leaves an invalid percent-encoding unchanged, like the router of ordinary requests. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refuseOn(socket: Duplex, code: ErrorCode, body: object): void {
  const text = JSON.stringify(body);
  const status = statusOf(code);
  const head = ["Connection: close", "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`];
  closeSocket(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("\r\n")}\r\n\r\n${text}`);
}
