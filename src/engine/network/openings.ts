/** Who waits until the namespace of a task can be joined. */

interface Opening {
  readonly promise: Promise<void>;
  readonly open: () => void;
  readonly fail: (error: unknown) => void;
  hasEnded: boolean;
}

export class Openings {
  /** By task. One that has ended stays, for those who ask afterwards. */
  readonly #openings = new Map<string, Opening>();

  /** Resolves when the namespace can be joined, which is made now, or was, or will be. @throws what `make` of `during` throws */
  wait(id: string): Promise<void> {
    return (this.#openings.get(id) ?? this.#new(id)).promise;
  }

  /** `make` makes the namespace, and more. Who waits for it goes on with `open`, or else with the end of this. @throws what `make` throws */
  async during<T>(id: string, make: () => Promise<T>): Promise<T> {
    const known = this.#openings.get(id);
    const opening = known === undefined || known.hasEnded ? this.#new(id) : known;
    try {
      return await make();
    } catch (error) {
      opening.fail(error);
      throw error;
    } finally {
      opening.open();
      opening.hasEnded = true;
    }
  }

  open(id: string): void {
    this.#openings.get(id)?.open();
  }

  /** The namespace is gone. */
  forget(id: string): void {
    if (this.#openings.get(id)?.hasEnded) this.#openings.delete(id);
  }

  #new(id: string): Opening {
    let [open, fail]: [() => void, (error: unknown) => void] = [() => {}, () => {}];
    const promise = new Promise<void>((resolve, reject) => {
      [open, fail] = [resolve, reject];
    });
    // Perhaps nobody waits.
    promise.catch(() => {});
    const opening = { promise, open, fail, hasEnded: false };
    this.#openings.set(id, opening);
    return opening;
  }
}
