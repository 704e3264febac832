/** Does work soon after it was asked for, and the more seldom the more often it is asked for. */

export interface PromptOptions {
  /** Milliseconds between the end of the work and its next beginning, at first. It doubles with each time that the work is done. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** After so long without work the first time holds again. */
  readonly quietMs: number;
}

export class Prompt {
  readonly #options: PromptOptions;
  readonly #work: () => Promise<void>;
  /** 0: it was not done lately. */
  #betweenMs = 0;
  /** Of performance.now(). */
  #endedAt = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  /** It was asked for while it was done: it must be done once more. */
  #isAsked = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param work must not reject, because nobody awaits it */
  constructor(options: PromptOptions, work: () => Promise<void>) {
    this.#options = options;
    this.#work = work;
  }

  ask(): void {
    if (this.#isStopped) return;
    this.#isAsked = true;
    if (this.#isBusy || this.#timer !== undefined) return;
    const sinceMs = performance.now() - this.#endedAt;
    if (sinceMs > this.#options.quietMs) this.#betweenMs = 0;
    this.#timer = setTimeout(() => void this.#turn(), Math.max(0, this.#betweenMs - sinceMs)).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #turn(): Promise<void> {
    this.#timer = undefined;
    [this.#isBusy, this.#isAsked] = [true, false];
    try {
      await this.#work();
    } finally {
      this.#isBusy = false;
      this.#endedAt = performance.now();
      const { leastMs, mostMs } = this.#options;
      this.#betweenMs = Math.min(mostMs, Math.max(leastMs, this.#betweenMs * 2));
    }
    if (this.#isAsked) this.ask();
  }
}
