/** Limits how many things are open at the same time. */
export class Slots {
  readonly most: number;
  #taken = 0;

  constructor(most: number) {
    this.most = most;
  }

  get isFull(): boolean {
    return this.#taken >= this.most;
  }

  /** Takes a slot, of which one must be free. Returns a function that frees it and may be called more than once. */
  take(): () => void {
    let isTaken = true;
    this.#taken++;
    return () => {
      if (isTaken) this.#taken--;
      isTaken = false;
    };
  }

  /** Takes a slot for the duration of the action. One must be free. */
  async during(action: () => Promise<void>): Promise<void> {
    const free = this.take();
    try {
      await action();
    } finally {
      free();
    }
  }
}
