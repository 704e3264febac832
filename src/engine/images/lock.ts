/** A lock for readers and one writer: many may use the store at once, but removing needs it exclusively. Later callers wait behind a waiting writer, unless that waits for an idle store. */
export class Lock {
  #readers = 0;
  #isWriting = false;
  #idle: (() => void)[] = [];
  readonly #waiting: { readonly isWriter: boolean; readonly go: () => void }[] = [];

  read<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(false, action);
  }

  write<T>(action: () => Promise<T>): Promise<T> {
    return this.#during(true, action);
  }

  /** As `write`, but it begins when the lock is free and has no waiters, so that it delays no caller that came before. */
  async idle<T>(action: () => Promise<T>): Promise<T> {
    while (this.#isWriting || this.#readers > 0 || this.#waiting.length > 0)
      await new Promise<void>((go) => {
        this.#idle.push(go);
      });
    return this.write(action);
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
      if (!this.#isWriting && this.#readers === 0) for (const go of this.#idle.splice(0)) go();
    }
  }

  /** In the order of arrival. */
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
