/** The end of a request: a signal of the caller, or a time limit. */
import { ClientError } from "./protocol/index.ts";

/** Options of every call. */
export interface CallOptions {
  /** Ends the call: its promise, iterator or stream fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds until the answer must be there; of a stream: until it begins. Default: that of the client. The error has the code "timeout". Infinity: no limit.
   */
  readonly timeoutMs?: number | undefined;
}

/** Maximum delay of a timer of Node. */
const LONGEST_MS = 2 ** 31 - 1;

/** Signals of another realm or of a library are signals, too. */
function isSignal(value: unknown): boolean {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function" && typeof removeEventListener === "function";
}

export class Limit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #abort = () => this.#controller.abort(this.#caller!.reason);

  constructor({ signal, timeoutMs }: CallOptions, usualMs: number) {
    this.#caller = signal;
    const ms = timeoutMs ?? usualMs;
    if (typeof ms !== "number" || !(ms > 0)) throw new ClientError("invalid-argument", "timeoutMs: use a number of milliseconds above 0");
    if (signal !== undefined && !isSignal(signal)) throw new ClientError("invalid-argument", "signal: use an AbortSignal");
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort, { once: true });
    if (ms <= LONGEST_MS)
      this.#timer = setTimeout(() => this.#controller.abort(new ClientError("timeout", `no answer within ${ms / 1000} s`)), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The answer is there: from now on only the signal of the caller ends the call. */
  answered(): void {
    clearTimeout(this.#timer);
  }

  /** The call has ended. */
  over(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#abort);
  }
}
