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

/** Milliseconds for which a caller waits until the store is not in use. */
export const CALLER_WAITS_MS = 30_000;

/** Milliseconds for which a writer lets new pulls begin, and then lets them wait, in turn. */
const OPEN_MS = 60_000;
const CLOSED_MS = 60_000;

/** How a reader waits for the store. */
export interface Reading {
  /** pull: it may take minutes, so that it waits for a writer that has waited long. Default: use. */
  readonly kind?: "pull" | "use";
  /** Ends the wait, not the use. Default: it ends when no writer is there. */
  readonly signal?: AbortSignal;
}

/**
 * A lock for readers and one writer. Many callers may use the store at once, but removing needs it alone. A writer waits until nobody uses the store, and
 * delays no container by that: a pull may take minutes, and containers start meanwhile. On a store that is always in use no writer would have its turn, so
 * one of them keeps new pulls waiting for a while.
 */
export class Lock {
  #readers = 0;
  #isWriting = false;
  /** A writer lets no pull begin. */
  #isClosed = false;
  #isSweepAwaited = false;
  readonly #waiting = { readers: new Set<() => void>(), writers: new Set<() => void>() };
  readonly #turns: { readonly openMs: number; readonly closedMs: number };

  constructor(turns = { openMs: OPEN_MS, closedMs: CLOSED_MS }) {
    this.#turns = turns;
  }

  /** @throws the reason of the signal, while it waits; what `action` throws */
  async read<T>(action: () => Promise<T>, { kind = "use", signal }: Reading = {}): Promise<T> {
    while (this.#isWriting || (this.#isClosed && kind === "pull")) await changed(this.#waiting.readers, { signal });
    this.#readers++;
    try {
      return await action();
    } finally {
      this.#readers--;
      this.#tell();
    }
  }

  /** @param withinMs milliseconds. Default: as long as it takes. @throws ImageError store-busy: the store was in use all this time; what `action` throws */
  async write<T>(action: () => Promise<T>, withinMs = Number.POSITIVE_INFINITY): Promise<T> {
    if (!(await this.#take(withinMs)))
      throw new ImageError(
        "store-busy",
        `busy: for ${withinMs / 1000} s images were being pulled, unpacked or removed without a break; nothing was removed, try again later`,
      );
    try {
      return await action();
    } finally {
      this.#isWriting = false;
      this.#tell();
    }
  }

  /** Writes as soon as nobody uses the store. One action that waits is enough for all calls. @throws what `action` throws */
  async sweep(action: () => Promise<unknown>): Promise<void> {
    if (this.#isSweepAwaited) return;
    this.#isSweepAwaited = true;
    await this.write(() => {
      this.#isSweepAwaited = false;
      return action();
    });
  }

  /** Waits until nobody uses the store, and takes it. @returns false: it was in use all this time */
  async #take(withinMs: number): Promise<boolean> {
    const start = performance.now();
    const openMs = Math.min(this.#turns.openMs, withinMs / 2);
    let turnsAt = start + openMs;
    let hasClosed = false;
    try {
      while (this.#isWriting || this.#readers > 0) {
        const now = performance.now();
        if (now >= start + withinMs) return false;
        if (now >= turnsAt) {
          // One closes for all.
          if (hasClosed || !this.#isClosed) {
            hasClosed = !hasClosed;
            this.#isClosed = hasClosed;
          }
          turnsAt = now + (hasClosed ? this.#turns.closedMs : openMs);
          if (!hasClosed) this.#tell();
        }
        await changed(this.#waiting.writers, { withinMs: Math.min(start + withinMs, turnsAt) - performance.now() });
      }
      this.#isWriting = true;
      return true;
    } finally {
      if (hasClosed) {
        this.#isClosed = false;
        this.#tell();
      }
    }
  }

  /** Readers first, so that several writers do not delay them. */
  #tell(): void {
    for (const one of [...this.#waiting.readers, ...this.#waiting.writers]) one();
  }
}

interface Waiting {
  /** Milliseconds. Default: as long as it takes. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when a function that is in the set meanwhile is called, or after so many milliseconds. @throws the reason of `signal` */
async function changed(waiting: Set<() => void>, { withinMs = Number.POSITIVE_INFINITY, signal }: Waiting): Promise<void> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let once = () => {};
  try {
    await new Promise<void>((go) => {
      once = go;
      if (Number.isFinite(withinMs)) timer = setTimeout(once, Math.max(0, withinMs));
      signal?.addEventListener("abort", once);
      waiting.add(once);
    });
  } finally {
    waiting.delete(once);
    clearTimeout(timer);
    signal?.removeEventListener("abort", once);
  }
  signal?.throwIfAborted();
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
