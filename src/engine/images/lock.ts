/** Many may use the store at once; who removes from it is alone, and those behind wait. */
export class Lock {
  #readers = 0;
  #isWriting = false;
  readonly #waiting: { readonly isWriter: boolean; readonly go: () => void }[] = [];

  read<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(false, action);
  }

  write<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(true, action);
  }

  async #during<T>(isWriter: boolean, action: () => Promise<T>): Promise<T> {
    await new Promise<void>((go) => {
      this.#waiting.push({ isWriter, go });
      this.#next();
    });
    try {
      return await action();
    } finally {
      if (isWriter) this.#isWriting = false;
      else this.#readers--;
      this.#next();
    }
  }

  /** In the order in which they have come. */
  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#isWriting || (first.isWriter && this.#readers > 0)) return;
      this.#waiting.shift();
      if (first.isWriter) this.#isWriting = true;
      else this.#readers++;
      first.go();
    }
  }
}
