/** At most so many at once; the others wait in order. */
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
      // Its place goes to the next one as it is.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
