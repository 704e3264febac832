/** How often something may be done: so many times in a row, and from then on once in so long. */
export class Rate {
  readonly #inARow: number;
  readonly #everyMs: number;
  #left: number;
  #since: number;

  /** `now`: of any clock that goes on. */
  constructor(inARow: number, everyMs: number, now: number) {
    this.#inARow = inARow;
    this.#everyMs = everyMs;
    this.#left = inARow;
    this.#since = now;
  }

  /** False: not now. */
  take(now: number): boolean {
    const earned = Math.floor((now - this.#since) / this.#everyMs);
    this.#left = Math.min(this.#inARow, this.#left + earned);
    this.#since += earned * this.#everyMs;
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}
