/** Samples in, medians, percentiles and ratios out. */

export interface Summary {
  readonly median: number;
  readonly p95: number;
  readonly minimum: number;
}

/** Two commands timed in turns; milliseconds, and KiB of peak RSS; runt's first. */
export interface Comparison {
  readonly rounds: number;
  readonly own: Summary;
  readonly peer: Summary;
  /** Of the medians, and of the minimums. */
  readonly ratio: number;
  readonly minimumRatio: number;
  readonly rssKib: readonly [number, number];
}

const NANOSECONDS_PER_MS = 1e6;

/** The value below which this share of the samples lies; NaN when there are none. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return (low + high) / 2;
}

export function summarize(samples: readonly number[]): Summary {
  return { median: median(samples), p95: quantile(samples, 0.95), minimum: quantile(samples, 0) };
}

/** One round each: [nanoseconds, KiB] of runt, then of its peer. */
export type Round = readonly [number, number, number, number];

export function compare(rounds: readonly Round[]): Comparison {
  const column = (index: 0 | 1 | 2 | 3) => rounds.map((round) => round[index]);
  const own = summarize(column(0).map((time) => time / NANOSECONDS_PER_MS));
  const peer = summarize(column(2).map((time) => time / NANOSECONDS_PER_MS));
  return {
    rounds: rounds.length,
    own,
    peer,
    ratio: own.median / peer.median,
    minimumRatio: own.minimum / peer.minimum,
    rssKib: [median(column(1)), median(column(3))],
  };
}

/** What pair.c prints. */
export function parseRounds(output: string): Round[] {
  return output
    .trim()
    .split("\n")
    .map((line) => {
      const [a, rssA, b, rssB, ...rest] = line.split(" ").map(Number);
      if (rssB === undefined || rest.length > 0 || [a, rssA, b, rssB].some(Number.isNaN)) throw new Error(`not a round: ${line}`);
      return [a!, rssA!, b!, rssB];
    });
}
