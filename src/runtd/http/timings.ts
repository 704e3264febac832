/** Counts the requests of each operation and sums up their durations. */

export class Timings {
  readonly #sums = new Map<string, { count: number; seconds: number }>();

  async measure<T>(operation: string, action: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await action();
    } finally {
      const sum = this.#sums.get(operation) ?? { count: 0, seconds: 0 };
      this.#sums.set(operation, { count: sum.count + 1, seconds: sum.seconds + (performance.now() - begun) / 1000 });
    }
  }

  get all(): readonly { readonly operation: string; readonly count: number; readonly seconds: number }[] {
    return [...this.#sums].map(([operation, sum]) => ({ operation, ...sum }));
  }
}
