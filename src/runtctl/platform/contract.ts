/** What the platform and its users both know. */

/** The standard output or the standard error. A program that reads them and goes away ends this one with 1, without a word. */
export interface Output {
  readonly isTTY: boolean;
  /** Width of the terminal; undefined: it is none. */
  readonly columns: number | undefined;
  /** Prints a text that is not long. */
  write(text: string): void;
  /** Returns when a slow reader has taken all of it, so that a long output does not fill memory. */
  send(bytes: Uint8Array): Promise<void>;
}

/** The end of a wait. */
export interface End {
  readonly aborted: boolean;
}

export interface Question {
  readonly socketPath: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
  /** It is given up after so many milliseconds without a byte; undefined: never. */
  readonly silenceMs?: number | undefined;
  /** Only the head of the answer has to come within `silenceMs`. */
  readonly isStream?: boolean;
  /** It is given up then. */
  readonly end?: End | undefined;
}

export interface Answer {
  readonly status: number;
  /** To be read once. Leaving it early closes the connection. @throws Error with `code`, as `ask` */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection, where the body is not read. */
  close(): void;
}

/** Codes of the errors of `ask`, beside those of connect(2). */
export const ASK = {
  /** The connection has ended before the answer. */
  lost: "ECONNRESET",
  /** No byte has come for too long. */
  silent: "ETIMEDOUT",
  /** What has come is no HTTP. */
  garbled: "EBADMSG",
  /** `end` has come. */
  ended: "ECANCELED",
} as const;

/** An error of `ask` with one of these codes. */
export function askError(code: (typeof ASK)[keyof typeof ASK], silenceMs = 0): Error & { readonly code: string } {
  const texts = {
    ECONNRESET: "the connection was closed before the answer had ended",
    ETIMEDOUT: `no answer within ${silenceMs / 1000} s`,
    EBADMSG: "what answers does not speak HTTP",
    ECANCELED: "the wait has ended",
  };
  return Object.assign(new Error(texts[code]), { code });
}
