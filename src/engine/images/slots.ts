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
