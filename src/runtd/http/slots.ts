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

  /** Taken until the function that it returns is called, which may be called again; there must be one. */
  take(): () => void {
    let isTaken = true;
    this.#taken++;
    return () => {
      if (isTaken) this.#taken--;
      isTaken = false;
    };
  }

  /** Taken until the action is over; there must be one. */
  async during(action: () => Promise<void>): Promise<void> {
    const free = this.take();
    try {
      await action();
    } finally {
      free();
    }
  }
}
