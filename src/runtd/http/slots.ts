/** A bound on things that are open at once. */
export class Slots {
  readonly most: number;
  #taken = 0;

  constructor(most: number) {
    this.most = most;
  }

  get isFull(): boolean {
    return this.#taken >= this.most;
  }

  /** Taken until the action is over; there must be one. */
  async during(action: () => Promise<void>): Promise<void> {
    this.#taken++;
    try {
      await action();
    } finally {
      this.#taken--;
    }
  }
}
