/** HTTP requests over a unix socket, with Node. */
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { STREAM_PROTOCOL } from "../shared/frames/index.ts";
import type { Limit } from "./limit.ts";
import { ClientError, connectionError, noDaemon, parsedOr, refusal, type Sockets } from "./protocol/index.ts";

export interface Question {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
}

export const BROKEN = "stream-broken";
/** Maximum size in bytes of an answer that is not streamed. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/**
 * Sends a request, and returns the answer with its body unread. For reads the next socket is tried if this user may not connect to the first one.
 * @throws ClientError; the reason of the limit's signal
 */
export async function ask([socketPath, ...others]: Sockets, question: Question, limit: Limit): Promise<IncomingMessage> {
  let answer: IncomingMessage;
  try {
    answer = await askOn(socketPath, question, limit);
  } catch (failure) {
    if (limit.signal.aborted) throw limit.signal.reason;
    const error = failure instanceof ClientError ? failure : connectionError(socketPath, failure as NodeJS.ErrnoException, hintOfNone);
    const [next, ...rest] = others;
    if (next === undefined || question.method !== "GET" || error.code !== "permission-denied") throw error;
    return ask([next, ...rest], question, limit);
  }
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 400) return answer;
  throw refusedBy(await textOf(answer, limit), status);
}

function askOn(socketPath: string, { method, path, body }: Question, { signal }: Limit): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const headers = body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    // A connection of its own: on a used one it might be unknown whether the daemon has received a change.
    const call = request({ socketPath, method, path, headers, agent: false });
    const end = () => call.destroy();
    signal.addEventListener("abort", end, { once: true });
    call.once("close", () => signal.removeEventListener("abort", end));
    call.once("response", resolve);
    let isConnected = false;
    call.once("socket", (socket) =>
      socket.once("connect", () => {
        isConnected = true;
      }),
    );
    // Errors of the answer are those of its reader.
    call.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith("HPE_")) reject(noDaemon("it does not speak HTTP"));
      else reject(isConnected ? lost(error) : error);
    });
    call.end(body);
  });
}

function hintOfNone(): string {
  return "Is runtd running? The option socket or RUNTD_SOCKET says where.";
}

/** The daemon may have received the request, and done it. */
function lost({ message }: Error): ClientError {
  return new ClientError(BROKEN, `the daemon has gone away: ${message}`);
}

/** The pieces of an answer. Leaving the loop early closes the connection. @throws ClientError; the reason of the limit's signal */
export async function* piecesOf(answer: IncomingMessage, limit: Limit): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const piece of answer) yield piece as Uint8Array;
    // Some runtimes end the body without an error when the connection is lost.
    if (!answer.complete) throw new Error("the answer is not whole");
  } catch (error) {
    if (limit.signal.aborted) throw limit.signal.reason;
    throw lost(error as Error);
  } finally {
    answer.destroy();
    limit.over();
  }
}

/** @throws ClientError; the reason of the limit's signal */
export async function textOf(answer: IncomingMessage, limit: Limit): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of piecesOf(answer, limit)) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw noDaemon("it sends an answer without an end");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Parses an object. @throws ClientError */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  const unreadable = () => noDaemon("it sends what cannot be read");
  const value = parsedOr(unreadable, text);
  if (typeof value !== "object" || value === null) throw unreadable();
  return value as Readonly<Record<string, unknown>>;
}

function refusedBy(text: string, status: number): ClientError {
  const body = objectIn(text);
  return typeof body["code"] === "string" ? refusal(body, status) : noDaemon(`it answers with status ${status}`);
}

/** Maximum size in bytes of the head of an answer, and of the body of a refusal. */
const LONGEST_HEAD = 64 * 1024;
const CLOSED = "the connection was closed before the answer";
const END_OF_HEAD = "\r\n\r\n";

/** Returns a connection that carries frames from here on. It is paused. @throws ClientError; the reason of the limit's signal */
export async function upgrade([socketPath]: Sockets, { method, path }: Question, limit: Limit): Promise<Socket> {
  const { signal } = limit;
  if (signal.aborted) throw signal.reason;
  const socket = connect({ path: socketPath });
  const end = () => socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    // Without a listener for the whole life of the socket, an error would end the process.
    socket.on("error", () => {});
    await connected(socket, socketPath);
    const headers = ["Host: localhost", "Connection: Upgrade", `Upgrade: ${STREAM_PROTOCOL}`, "Content-Length: 0"];
    socket.write(`${method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    const { head, rest } = await headOf(socket);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
    if (status !== 101) throw refusedBy(rest.toString(), status);
    if (rest.length > 0) socket.unshift(rest);
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw signal.reason;
    throw error instanceof ClientError ? error : lost(error as Error);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** @throws ClientError: it cannot connect */
function connected(socket: Socket, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(connectionError(socketPath, error, hintOfNone));
    socket.once("connect", resolve);
    socket.once("error", fail);
    // A socket that the signal destroys has no error.
    socket.once("close", () => fail(new Error("the connection was closed")));
  });
}

/** The head of the answer, and what follows it; of an answer that refuses: its whole body. */
function headOf(socket: Socket): Promise<{ readonly head: string; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new Error(CLOSED));
    let bytes = Buffer.alloc(0);
    const done = (isOver: boolean) => {
      const at = bytes.indexOf(END_OF_HEAD);
      if (at >= 0 && (isOver || bytes.toString("latin1", 0, 12) === "HTTP/1.1 101")) {
        leave();
        resolve({ head: bytes.toString("latin1", 0, at), rest: bytes.subarray(at + END_OF_HEAD.length) });
      } else if (isOver || bytes.length > LONGEST_HEAD) {
        leave();
        reject(isOver && bytes.length === 0 ? new Error(CLOSED) : noDaemon("it does not speak HTTP"));
      }
    };
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      done(false);
    };
    const onEnd = () => done(true);
    const leave = () => {
      socket.pause();
      socket.off("data", onData);
      socket.off("end", onEnd);
      socket.off("close", onEnd);
    };
    socket.on("data", onData);
    socket.on("end", onEnd);
    socket.on("close", onEnd);
  });
}
