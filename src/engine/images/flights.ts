/** Shares pulls: callers that want the same image wait for one pull. The pull is cancelled when nobody waits for it any more. */

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

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
