/** What goes wrong with networks: a stable code, and what to do about it in the message. */

export type NetworkErrorCode =
  /** A CNI plugin is not installed; the message names the package. */
  | "plugin-missing"
  /** It has said what is wrong. */
  | "plugin-failed"
  /** It has not ended in time, and was killed. */
  | "plugin-timeout"
  /** What it has printed is no answer, or not a true one. */
  | "plugin-answer"
  /** A program of the host is not installed; the message names the package. */
  | "program-missing"
  | "program-failed"
  /** Another program listens on a port of the host that the task is to have. */
  | "port-taken"
  /** The host has no room for another network of this engine. */
  | "no-subnet";

export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** One error for several; the first gives the code. */
export function merged(what: string, errors: readonly unknown[]): NetworkError {
  const messages = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  const [first] = errors;
  return new NetworkError(first instanceof NetworkError ? first.code : "program-failed", `${what}: ${messages.join("; ")}`);
}
