/** Errors of requests to the daemon. */

export interface ErrorFacts {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly hint?: string | undefined;
  readonly status?: number | undefined;
  readonly exitStatus?: number | undefined;
}

/** The daemon answers with an error, or does not answer. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  /**
   * Code of the API ("unknown-task", "invalid-spec", ...), or one of the client: "unreachable" (no daemon answers), "permission-denied" (this user may not
   * use the socket), "no-daemon" (what answers is no runtd), "stream-broken" (the connection was lost before the answer or the stream had ended), "timeout".
   */
  readonly code: string;
  /** Body of the response. */
  readonly body: Readonly<Record<string, unknown>>;
  /** A hint for the user: one sentence. */
  readonly hint: string | undefined;
  /** Status of the HTTP response; undefined: the error is in no response. */
  readonly status: number | undefined;
  /** Exit status that a shell uses for this error of a program: 127 if it was not found. undefined: the error is of something else. */
  readonly exitStatus: number | undefined;

  constructor(code: string, message: string, { body = {}, hint, status, exitStatus }: ErrorFacts = {}) {
    super(message);
    this.code = code;
    this.body = body;
    this.hint = hint;
    this.status = status;
    this.exitStatus = exitStatus;
  }
}

/** The error in the body of a response. */
export function refusal(body: Readonly<Record<string, unknown>>, status?: number): ClientError {
  return new ClientError(String(body["code"]), String(body["message"]), { body, status });
}

/** The object in a frame of JSON; undefined: the frame has none. */
export function frameObject(payload: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(payload).toString());
    return typeof found === "object" && found !== null ? (found as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** The error in a frame that ends a connection; "no-daemon": the frame has none. */
export function failureIn(payload: Uint8Array): ClientError {
  const { code, message, exitStatus } = frameObject(payload) ?? {};
  if (typeof code !== "string") return noDaemon("it sends a frame that cannot be read");
  return new ClientError(code, String(message), { exitStatus: typeof exitStatus === "number" ? exitStatus : undefined });
}

/** Why a connection to a socket has failed. @param hintOfNone a hint if no daemon answers */
export function connectionError(socketPath: string, { code, message }: NodeJS.ErrnoException, hintOfNone: () => string): ClientError {
  switch (code) {
    case "EACCES":
      return new ClientError("permission-denied", `${socketPath}: permission denied`, {
        hint: "Changes need root; reading needs root or the group runtd-read.",
      });
    case "ENOENT":
    case "ECONNREFUSED":
      return new ClientError("unreachable", `${socketPath}: no daemon answers`, { hint: hintOfNone() });
    default:
      return new ClientError("unreachable", `${socketPath}: ${message}`);
  }
}

export function noDaemon(what: string): ClientError {
  return new ClientError("no-daemon", `what answers is no runtd: ${what}`);
}

/** Parses JSON. @throws what `failure` returns */
export function parsedOr(failure: () => Error, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure();
  }
}
