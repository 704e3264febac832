/** JSON over the daemon's unix socket. */
import { type IncomingMessage, request } from "node:http";

/** What the daemon has answered with an error, or that there is none. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  /** Of the API ("unknown-task", "invalid-spec", ...), or "unreachable". */
  readonly code: string;
  /** The body of the answer. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, body: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.body = body;
  }
}

export interface Client {
  /** @throws ClientError */
  call<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<T>;
}

/** How long the daemon may take for an answer: applying and looking return at once, whatever they begin. */
const TIMEOUT_MS = 30_000;

export function clientOf(socketPath: string): Client {
  return {
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await send(socketPath, method, path, body);
      const answer = JSON.parse(await textOf(response)) as Readonly<Record<string, unknown>>;
      if ((response.statusCode ?? 500) < 400) return answer as T;
      throw new ClientError(String(answer["code"]), String(answer["message"]), answer);
    },
  };
}

function send(socketPath: string, method: string, path: string, body: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const call = request({ socketPath, method, path, headers, timeout: TIMEOUT_MS }, resolve);
    call.on("timeout", () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    call.on("error", (error: NodeJS.ErrnoException) => {
      const hint = error.code === "ENOENT" || error.code === "ECONNREFUSED" ? "is runtd running?" : error.message;
      reject(new ClientError("unreachable", `${socketPath}: ${error.code === "EACCES" ? "permission denied" : hint}`));
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
