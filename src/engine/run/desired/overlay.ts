/** Changes of a map that are not stored yet. */
export class Overlay<T> {
  readonly #below: ReadonlyMap<string, T>;
  readonly #changes = new Map<string, T | undefined>();
  /** What each change has replaced, the oldest first. */
  readonly #replaced: { readonly key: string; readonly isFirst: boolean; readonly before: T | undefined }[] = [];

  constructor(below: ReadonlyMap<string, T>) {
    this.#below = below;
  }

  get(key: string): T | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#below.get(key);
  }

  /** undefined: it is removed. */
  set(key: string, value: T | undefined): void {
    this.#replaced.push({ key, isFirst: !this.#changes.has(key), before: this.#changes.get(key) });
    this.#changes.set(key, value);
  }

  values(): T[] {
    return [...new Set([...this.#below.keys(), ...this.#changes.keys()])].flatMap((key) => this.get(key) ?? []);
  }

  get changes(): ReadonlyMap<string, T | undefined> {
    return this.#changes;
  }

  /** Returns a function that takes back all changes from now on. */
  savepoint(): () => void {
    const count = this.#replaced.length;
    return () => {
      for (const { key, isFirst, before } of this.#replaced.splice(count).reverse())
        isFirst ? this.#changes.delete(key) : this.#changes.set(key, before);
    };
  }
}
