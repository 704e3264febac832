/** Bounds how many things are open at once. */
export class Slots {
  readonly most: number;
  #taken = 0;

  constructor(most: number) {
    this.most = most;
  }

  get isFull(): boolean {
    return this.#taken >= this.most;
  }

  /** Takes a slot and returns the function that gives it back, which may be called more than once. A slot must be free. */
  take(): () => void {
    let isTaken = true;
    this.#taken++;
    return () => {
      if (isTaken) this.#taken--;
      isTaken = false;
    };
  }

  /** Takes a slot for the time of the action. A slot must be free. */
  async during(action: () => Promise<void>): Promise<void> {
    const free = this.take();
    try {
      await action();
    } finally {
      free();
    }
  }
}
