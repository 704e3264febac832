/** Ways to wait for others in the image store: sharing a pull, slots, the lock of the store, and a time limit. */
import { ImageError } from "./errors.ts";

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Shares pulls: callers that want the same image wait for one pull. The pull is cancelled when nobody waits for it any more. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** @throws what `start` throws; the reason of `signal` */
  async join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, start);
    flight.waiting++;
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave);
    });
    try {
      return await Promise.race([flight.result, left]);
    } finally {
      signal.removeEventListener("abort", leave);
      if (--flight.waiting === 0) {
        // The next caller starts a new pull.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.controller.abort(signal.reason);
      }
    }
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { controller, waiting: 0, result: start(controller.signal) };
    this.#flights.set(key, flight);
    const end = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    flight.result.then(end, end);
    return flight;
  }
}

/** A semaphore whose waiters can be cancelled. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  /** @throws the reason of `signal`, also while waiting */
  async during<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await action();
    } finally {
      this.#free++;
      this.#next();
    }
  }

  #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      signal.addEventListener("abort", leave);
      this.#waiting.add(go);
      this.#next();
    });
  }

  #next(): void {
    const [go] = this.#waiting;
    if (go === undefined || this.#free === 0) return;
    this.#waiting.delete(go);
    this.#free--;
    go();
  }
}

/**
 * A lock for readers and one writer. Many callers may use the store at once, but removing needs it alone. Later callers queue behind a waiting
 * writer, except behind one that waits in `idle`.
 */
export class Lock {
  #readers = 0;
  #isWriting = false;
  #idle: (() => void)[] = [];
  readonly #waiting: { readonly isWriter: boolean; readonly go: () => void }[] = [];

  read<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(false, action);
  }

  write<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(true, action);
  }

  /** Like `write`, but begins only when the lock is free and nobody waits for it, so that it delays no earlier caller. */
  async idle<T>(action: () => Promise<T>): Promise<T> {
    while (this.#isWriting || this.#readers > 0 || this.#waiting.length > 0)
      await new Promise<void>((go) => {
        this.#idle.push(go);
      });
    return this.write(action);
  }

  async #during<T>(isWriter: boolean, action: () => Promise<T>): Promise<T> {
    await new Promise<void>((go) => {
      this.#waiting.push({ isWriter, go });
      this.#next();
    });
    try {
      return await action();
    } finally {
      if (isWriter) this.#isWriting = false;
      else this.#readers--;
      this.#next();
      if (!this.#isWriting && this.#readers === 0) for (const go of this.#idle.splice(0)) go();
    }
  }

  /** Serves the waiting callers in the order of their arrival. */
  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#isWriting || (first.isWriter && this.#readers > 0)) return;
      this.#waiting.shift();
      if (first.isWriter) this.#isWriting = true;
      else this.#readers++;
      first.go();
    }
  }
}

/**
 * Aborts the signal of `action` after `ms` milliseconds, or when `outer` is aborted.
 * @throws what `late` returns; the reason of `outer`; what `action` throws
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal,
  action: (signal: AbortSignal) => Promise<T>,
  late = () => new ImageError("pull-timeout", `PullTimeout: it was not there within ${ms / 1000} s`),
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late()), ms);
  const end = () => controller.abort(outer.reason);
  outer.addEventListener("abort", end);
  if (outer.aborted) end();
  try {
    return await action(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", end);
  }
}
