/**
 * Serves interLink's plug-in API over HTTP. Its two GET requests have bodies, which have no defined meaning (RFC 9110, 9.3.1) and which HTTP
 * frameworks drop. Therefore this uses Node's server directly.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { z } from "zod";
import { EngineError } from "../../engine/index.ts";
import { boundedJson, cut } from "../../shared/text/index.ts";
import type { PassedSocket } from "../activation.ts";
import { errorOf, statusOf } from "../http/errors.ts";
import { HTTP_LIMITS, MOST_CONNECTIONS } from "../http/limits.ts";
import { type Listening, listenAt, listening } from "../sockets.ts";
import type { Calls } from "./calls.ts";
import type { InterlinkConfiguration } from "./config.ts";
import { refusalOf } from "./guard.ts";
import { createRequest, logRequest, podRequest, statusRequest } from "./requests.ts";

/** Maximum size of a body, in bytes: a pod with its ConfigMaps and Secrets. */
const LARGEST_BODY = 4 * 1024 * 1024;
/** Maximum number of JSON values in a request. interLink asks for the status of some hundred pods by sending these pods as a whole. */
const MOST_VALUES = 100_000;
/** Maximum number of problems that are reported. */
const MOST_PROBLEMS = 20;

export interface InterlinkOptions {
  readonly calls: Calls;
  /** undefined: every process that may open the socket may send requests. */
  readonly guard: { readonly token: string; readonly hosts: readonly string[] } | undefined;
}

export function interlinkServer({ calls, guard }: InterlinkOptions): Server {
  const server = createServer(HTTP_LIMITS, (request, response) => {
    const refused = guard && refusalOf(request.headers, guard);
    if (refused !== undefined) return sendJson(response, refused.status, { detail: refused.message });
    answer(calls, request, response).catch((error: unknown) => fail(response, error));
  });
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

async function answer(calls: Calls, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "").split("?")[0];
  switch (`${request.method} ${path}`) {
    case "POST /create":
      return sendJson(response, 200, await calls.create(await bodyOf(request, createRequest)));
    case "POST /delete":
      return sendJson(response, 200, await calls.delete(await bodyOf(request, podRequest)));
    case "GET /status":
      return sendJson(response, 200, calls.status(await bodyOf(request, statusRequest)));
    case "GET /getLogs":
      return sendLogs(calls, await bodyOf(request, logRequest), response);
    default:
      return sendJson(response, 404, { detail: `${request.method} ${path}: there is no such call` });
  }
}

async function sendLogs(calls: Calls, query: z.output<typeof logRequest>, response: ServerResponse): Promise<void> {
  const reader = new AbortController();
  response.once("close", () => reader.abort());
  const text = calls.logs(query, reader.signal);
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  // The headers are sent already, so that an error can only close the connection.
  await pipeline(Readable.from(text, { objectMode: false }), response).catch(() => response.destroy());
}

/** The body does not match its schema. The response has the format of interLink's document (HTTPValidationError). */
class InvalidBody extends Error {
  readonly detail: readonly { readonly loc: readonly (string | number)[]; readonly msg: string; readonly type: string }[];

  constructor(problems: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]) {
    super("the body is wrong");
    this.detail = problems.slice(0, MOST_PROBLEMS).map(({ path, message }) => ({
      loc: ["body", ...path.map((part) => (typeof part === "number" ? part : cut(String(part))))],
      msg: cut(message),
      type: "value_error",
    }));
  }
}

class TooLarge extends Error {}

async function bodyOf<S extends z.ZodType>(request: IncomingMessage, schema: S): Promise<z.output<S>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) throw new TooLarge();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const parsed = schema.safeParse(text === "" ? null : jsonIn(text));
  if (!parsed.success) throw new InvalidBody(parsed.error.issues);
  return parsed.data;
}

function jsonIn(text: string): unknown {
  try {
    const value = boundedJson(text, MOST_VALUES);
    if (value !== undefined) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidBody([{ path: [], message: "is no JSON, or has too many values" }]);
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
  } else if (error instanceof InvalidBody) {
    sendJson(response, 422, { detail: error.detail });
  } else if (error instanceof TooLarge) {
    response.setHeader("connection", "close");
    sendJson(response, 413, { detail: `the body is larger than ${LARGEST_BODY} bytes` });
  } else if (error instanceof EngineError && error.code === "invalid-spec") {
    const { findings = [] } = error.details as { readonly findings?: readonly { readonly pointer: string; readonly message: string }[] };
    const detail = findings.map(({ pointer, message }) => ({
      loc: ["body", "pod", ...partsOf(pointer)],
      msg: message,
      type: "value_error",
    }));
    sendJson(response, 422, { detail });
  } else {
    const { code, message } = errorOf(error);
    sendJson(response, statusOf(code), { detail: message });
  }
}

/** The parts of a JSON pointer. Source: RFC 6901. */
function partsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/**
 * Listens for interLink: on a unix socket, or on an address with a token. The place is a path or that address.
 * @throws SocketInUseError; the error of listen(2)
 */
export async function listenForInterlink(
  server: Server,
  { listen }: InterlinkConfiguration,
  runDir: string,
  passed: PassedSocket | undefined,
): Promise<Listening> {
  if (listen === undefined) return listenAt(server, { path: join(runDir, "interlink.sock"), mode: 0o600, group: undefined }, passed);
  await listening(server, { port: listen.port, host: listen.address });
  return { place: `${listen.address}:${listen.port}`, remove: () => {} };
}
