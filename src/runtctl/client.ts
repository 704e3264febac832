/** Sends JSON requests to the daemon over its unix socket. */
import { ClientError, parsedOr, refusal, type Sockets, connectionError as whyNotConnected } from "../client/protocol/index.ts";
import { howToStart } from "./daemon-here.ts";
import { type Answer, ASK, ask, type End, type Question } from "./platform/index.ts";

export { ClientError, parsedOr, refusal };

export interface CallOptions {
  /** Whether the daemon answers only when the work is done, however long that takes. */
  readonly isLong?: boolean;
  /** The request ends when this moment has come. */
  readonly end?: End | undefined;
}

export interface Client {
  /** @throws ClientError; with the code timeout, if `end` comes first */
  call<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /** Streams a response that may take long. @throws ClientError */
  stream(path: string): Promise<AsyncIterable<Uint8Array>>;
}

/** Milliseconds to wait for a response. Most requests do not wait for the work that they start, so that their responses come at once. */
const TIMEOUT_MS = 30_000;
/** Maximum size in bytes of a response that is not streamed. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

export function clientOf(sockets: Sockets): Client {
  return {
    async call<T>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown, { isLong = false, end }: CallOptions = {}): Promise<T> {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answered = await askFirst(sockets, { method, path, body: text, silenceMs: isLong ? undefined : TIMEOUT_MS, end });
      const answer = await objectIn(answered);
      if (answered.status < 400) return answer as T;
      throw refusal(answer);
    },
    async stream(path) {
      const answered = await askFirst(sockets, { method: "GET", path, silenceMs: TIMEOUT_MS, isStream: true });
      if (answered.status < 400) return answered.body;
      throw refusal(await objectIn(answered));
    },
  };
}

export interface Answered extends Answer {
  readonly socketPath: string;
}

/**
 * Tries the next socket only for reads, and only if this user may not connect to the current one. For a change the error of the first socket is
 * reported.
 * @throws ClientError
 */
export async function askFirst([socketPath, ...others]: Sockets, question: Omit<Question, "socketPath">): Promise<Answered> {
  try {
    return { socketPath, ...(await ask({ socketPath, ...question })) };
  } catch (failure) {
    const error = connectionError(socketPath, failure as NodeJS.ErrnoException);
    const [next, ...rest] = others;
    if (next === undefined || question.method !== "GET" || error.code !== "permission-denied") throw error;
    return askFirst([next, ...rest], question);
  }
}

export function connectionError(socketPath: string, error: NodeJS.ErrnoException): ClientError {
  if (error.code === ASK.ended) return new ClientError("timeout", "the wait is over");
  const hint = () => ["Is runtd running? --run-dir or RUNTD_SOCKET says where.", howToStart(socketPath)].filter(Boolean).join("\n");
  return whyNotConnected(socketPath, error, hint);
}

/** Parses the whole body as a JSON object. @throws ClientError */
export async function objectIn({ socketPath, body }: Answered): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST_ANSWER) throw noDaemon(socketPath);
    }
  } catch (error) {
    throw error instanceof ClientError ? error : connectionError(socketPath, error as NodeJS.ErrnoException);
  }
  const value = parsedOr(() => noDaemon(socketPath), Buffer.concat(chunks).toString());
  if (typeof value !== "object" || value === null) throw noDaemon(socketPath);
  return value as Readonly<Record<string, unknown>>;
}

function noDaemon(socketPath: string): ClientError {
  return new ClientError("no-daemon", `${socketPath}: what answers is no runtd`);
}
