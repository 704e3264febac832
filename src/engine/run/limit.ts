/** Limits how many actions run at once. The others wait in order. */
export class Limit {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(action: () => Promise<T>): Promise<T> {
    if (this.#running === this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await action();
    } finally {
      // The slot passes directly to the next waiter, so that nobody else can take it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
