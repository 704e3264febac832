/** What happens in the turns of the event loop while something goes on. A turn is as long as nothing else can be done, whatever the speed of the machine. */

/** Numbers that a test counts up, by what they count. */
export type Counts = Record<string, number>;

export interface Observed<T> {
  readonly result: T;
  /** How many turns there were. */
  readonly turns: number;
  /** The most of each count in one turn. */
  readonly most: Readonly<Counts>;
}

/** Observes until the promise of `action` is settled. @param counts are 0 afterwards. @throws what `action` throws */
export async function observed<T>(action: () => Promise<T>, counts: Counts = {}): Promise<Observed<T>> {
  const most: Counts = {};
  let [turns, isOver] = [0, false];
  const look = () => {
    turns++;
    for (const [name, count] of Object.entries(counts)) {
      most[name] = Math.max(most[name] ?? 0, count);
      counts[name] = 0;
    }
    if (!isOver) setImmediate(look);
  };
  for (const name of Object.keys(counts)) counts[name] = 0;
  setImmediate(look);
  try {
    const result = await action();
    // What the last turn has done is counted, too.
    isOver = true;
    await new Promise(setImmediate);
    return { result, turns, most };
  } finally {
    isOver = true;
  }
}
