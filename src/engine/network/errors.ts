/** Errors of networks: a stable code, and a message that says what to do. */

export type NetworkErrorCode =
  /** A CNI plugin is not installed; the message names the package. */
  | "plugin-missing"
  /** A CNI plugin has reported an error. */
  | "plugin-failed"
  /** A CNI plugin did not exit in time and was killed. */
  | "plugin-timeout"
  /** The output of a CNI plugin is not valid, or contradicts the facts. */
  | "plugin-answer"
  /** A program of the host is not installed; the message names the package. */
  | "program-missing"
  | "program-failed"
  /** Another program listens on a host port of the task. */
  | "port-taken"
  /** An interface of the host on which one of the task is to be made does not exist. */
  | "no-interface"
  /** All address ranges for networks of this engine are taken on this host. */
  | "no-subnet";

export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Joins several errors to one. The code is that of the first. */
export function merged(what: string, errors: readonly unknown[]): NetworkError {
  const messages = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  const [first] = errors;
  return new NetworkError(first instanceof NetworkError ? first.code : "program-failed", `${what}: ${messages.join("; ")}`);
}
