/** Changes of a map that are not stored yet. */
export class Overlay<T> {
  readonly #below: ReadonlyMap<string, T>;
  readonly #changes = new Map<string, T | undefined>();

  constructor(below: ReadonlyMap<string, T>) {
    this.#below = below;
  }

  get(key: string): T | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#below.get(key);
  }

  /** undefined: it is removed. */
  set(key: string, value: T | undefined): void {
    this.#changes.set(key, value);
  }

  values(): T[] {
    return [...new Set([...this.#below.keys(), ...this.#changes.keys()])].flatMap((key) => this.get(key) ?? []);
  }

  get changes(): ReadonlyMap<string, T | undefined> {
    return this.#changes;
  }
}
