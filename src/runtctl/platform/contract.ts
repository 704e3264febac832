/** Types that the platform and its users share. */

/** Standard output or standard error. If its reader ends, this program ends with status 1 and without a message. */
export interface Output {
  readonly isTTY: boolean;
  /** Width of the terminal; undefined: the stream is no terminal. */
  readonly columns: number | undefined;
  /** Prints a short text. */
  write(text: string): void;
  /** Returns when a slow reader has taken everything, so that a long output does not fill memory. */
  send(bytes: Uint8Array): Promise<void>;
}

/** A moment at which a wait ends. */
export interface End {
  readonly aborted: boolean;
}

export interface Question {
  readonly socketPath: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
  /** The request fails after this many milliseconds without a byte; undefined: never. */
  readonly silenceMs?: number | undefined;
  /** Whether `silenceMs` holds only for the head of the answer. */
  readonly isStream?: boolean;
  /** The request fails when this moment has come. */
  readonly end?: End | undefined;
}

export interface Answer {
  readonly status: number;
  /** Can be read once. Leaving the loop early closes the connection. @throws Error with `code`, like `ask` */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection, if the body is not read. */
  close(): void;
}

/** Codes of errors of `ask`, in addition to those of connect(2). */
export const ASK = {
  /** The connection was closed before the answer was complete. */
  lost: "ECONNRESET",
  /** No byte has arrived for too long. */
  silent: "ETIMEDOUT",
  /** The data that arrived is no HTTP. */
  garbled: "EBADMSG",
  /** The moment `end` has come. */
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
