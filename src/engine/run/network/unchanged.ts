/** Tells what has changed between two looks at many things, so that only that is worked on. */

interface Kept<T> {
  readonly text: string;
  readonly value: T;
}

/** Values by key. A value with the same content as before stays the same object: who keeps it sees by comparing it that nothing has changed. */
export class Unchanged<T> {
  #kept: ReadonlyMap<string, Kept<T>> = new Map();

  /** The values of this look; other keys are forgotten. @param textOf has all of a value that matters */
  renew(values: ReadonlyMap<string, T>, textOf: (value: T) => string = JSON.stringify): void {
    const kept = new Map<string, Kept<T>>();
    for (const [key, value] of values) {
      const [text, before] = [textOf(value), this.#kept.get(key)];
      kept.set(key, before?.text === text ? before : { text, value });
    }
    this.#kept = kept;
  }

  get(key: string): T | undefined {
    return this.#kept.get(key)?.value;
  }
}

/** The values by what `keyOf` gives for each; undefined: it is left out. Their order stays. */
export function grouped<T>(values: readonly T[], keyOf: (value: T) => string | undefined): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
