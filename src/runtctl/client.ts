/** Sends JSON requests to the daemon over its unix socket. */
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import type { Sockets } from "./sockets.ts";

interface ErrorFacts {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly hint?: string;
  readonly exitStatus?: number;
}

/** The daemon has answered with an error, or does not answer. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  /** Code of the API ("unknown-task", "invalid-spec", ...), or "unreachable". */
  readonly code: string;
  /** Body of the response. */
  readonly body: Readonly<Record<string, unknown>>;
  /** A hint for the user: one sentence. */
  readonly hint: string | undefined;
  /** Exit status of this program; undefined: as in errors.ts. */
  readonly exitStatus: number | undefined;

  constructor(code: string, message: string, { body = {}, hint, exitStatus }: ErrorFacts = {}) {
    super(message);
    this.code = code;
    this.body = body;
    this.hint = hint;
    this.exitStatus = exitStatus;
  }
}

export interface Client {
  /** @throws ClientError */
  call<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<T>;
  /** Streams a response that may take long. @throws ClientError */
  stream(path: string): Promise<AsyncIterable<Buffer>>;
}

/** Milliseconds to wait for a response. No request waits for the work that it starts, so that responses come at once. */
const TIMEOUT_MS = 30_000;

export function clientOf(sockets: Sockets): Client {
  return {
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await sendToOne(sockets, method, path, body);
      const answer = JSON.parse(await textOf(response)) as Readonly<Record<string, unknown>>;
      if ((response.statusCode ?? 500) < 400) return answer as T;
      throw new ClientError(String(answer["code"]), String(answer["message"]), { body: answer });
    },
    async stream(path) {
      const response = await sendToOne(sockets, "GET", path, undefined);
      // A stream may be silent for any time.
      response.socket.setTimeout(0);
      if ((response.statusCode ?? 500) < 400) return response as AsyncIterable<Buffer>;
      const answer = JSON.parse(await textOf(response)) as Readonly<Record<string, unknown>>;
      throw new ClientError(String(answer["code"]), String(answer["message"]), { body: answer });
    },
  };
}

/** Tries the next socket only for reads, and only if this user may not connect to the current one. For changes the error of the first socket is reported. */
async function sendToOne([first, ...others]: Sockets, method: string, path: string, body: unknown): Promise<IncomingMessage> {
  try {
    return await send(first, method, path, body);
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined || method !== "GET" || !(error instanceof ClientError && error.code === "permission-denied")) throw error;
    return sendToOne([next, ...rest], method, path, body);
  }
}

/** Options of every request. Without a `servername` the agent works out one for TLS, which takes 4 ms in a new process. */
export function connectionOptions(socketPath: string, path: string): RequestOptions & { readonly servername: "" } {
  return { socketPath, path, servername: "" };
}

function send(socketPath: string, method: string, path: string, body: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    // A change gets a new connection, so that it is always known whether the daemon has received it.
    const agent = method === "GET" ? undefined : new Agent();
    const options = { ...connectionOptions(socketPath, path), method, headers, timeout: TIMEOUT_MS, agent };
    const call = request(options, resolve);
    call.on("timeout", () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    call.on("error", (error: NodeJS.ErrnoException) => {
      // The daemon may have closed an idle connection in the moment in which it was used again (http.ClientRequest.reusedSocket).
      if (call.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code ?? ""))
        send(socketPath, method, path, body).then(resolve, reject);
      else reject(connectionError(socketPath, error));
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export function connectionError(socketPath: string, { code, message }: NodeJS.ErrnoException): ClientError {
  switch (code) {
    case "EACCES":
      return new ClientError("permission-denied", `${socketPath}: permission denied`, {
        hint: "Changes need root; reading needs root or the group runtd-read.",
      });
    case "ENOENT":
    case "ECONNREFUSED":
      return new ClientError("unreachable", `${socketPath}: no daemon answers`, {
        hint: "Is runtd running? --run-dir or RUNTD_SOCKET says where.",
      });
    default:
      return new ClientError("unreachable", `${socketPath}: ${message}`);
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
