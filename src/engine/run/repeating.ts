/** Calls a function at intervals. A call that takes longer than the interval is not overlapped by the next one. */
export class Repeating {
  readonly #timer: NodeJS.Timeout;
  #isBusy = false;

  /** @param action must not reject, because nobody awaits it */
  constructor(intervalMs: number, action: () => Promise<void>) {
    this.#timer = setInterval(() => void this.#turn(action), intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #turn(action: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await action();
    } finally {
      this.#isBusy = false;
    }
  }
}
