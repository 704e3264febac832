/** Names close to one that was not found. Pure. */
const MOST = 3;

/** At most three, the closest first. */
export function closeNames(wanted: string, names: Iterable<string>): readonly string[] {
  const limit = wanted.length < 5 ? 1 : 2;
  const found: (readonly [distance: number, name: string])[] = [];
  for (const name of new Set(names)) {
    if (Math.abs(name.length - wanted.length) > limit) continue;
    const distance = name.toLowerCase() === wanted.toLowerCase() ? 0 : editDistance(wanted, name);
    // A name of which nothing is left is not close to anything.
    if (distance <= limit && distance < wanted.length) found.push([distance, name]);
  }
  return found
    .sort(([a, aName], [b, bName]) => a - b || (aName < bName ? -1 : 1))
    .slice(0, MOST)
    .map(([, name]) => name);
}

/** Insertions, deletions, changes, and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
