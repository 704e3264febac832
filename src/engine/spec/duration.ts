/** Durations as text. */

export const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Ten years in milliseconds. A longer time is probably a wrong unit. */
export const LONGEST_MS = 3650 * 86_400_000;

/** Milliseconds of a text that matches DURATION. */
export function durationMs(text: string): number {
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART)) sum += Number(count) * MS[unit!]!;
  return Math.round(sum);
}

/** Milliseconds of a text like "10s" or "1h30m"; undefined: it is no duration, or longer than ten years. */
export function parseDuration(text: string): number | undefined {
  const ms = DURATION.test(text) ? durationMs(text) : Number.POSITIVE_INFINITY;
  return ms <= LONGEST_MS ? ms : undefined;
}
