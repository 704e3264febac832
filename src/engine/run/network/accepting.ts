/** Lets the program of a task accept the connections that were led to it before the rules have changed. */
import { setTimeout as sleep } from "node:timers/promises";

/** In milliseconds. */
interface Times {
  /** What was sent before the rules have changed arrives within this time. */
  readonly least: number;
  /** A program that does not accept must not keep its task from its end. */
  readonly most: number;
  readonly betweenLooks: number;
}

const TIMES: Times = { least: 100, most: 2_000, betweenLooks: 50 };

/**
 * Resolves when the program has accepted all connections that have come, at the earliest after 100 ms, and at the latest after 2 s.
 * @param count counts those that it has not accepted. When it fails, nobody can say how many there are, and it is asked again. undefined: they cannot be counted
 */
export async function accepted(count: (() => Promise<number>) | undefined, { least, most, betweenLooks }: Times = TIMES): Promise<void> {
  const end = performance.now() + most;
  await sleep(least);
  if (count === undefined) return;
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    if ((await within(count, left)) === 0) return;
    await sleep(Math.min(betweenLooks, left), undefined, { ref: false });
  }
}

/** On a busy host the program that counts may itself take long. undefined: it has taken longer, or has failed. */
async function within(count: () => Promise<number>, ms: number): Promise<number | undefined> {
  const isCounted = new AbortController();
  const late = sleep(ms, undefined, { ref: false, signal: isCounted.signal }).catch(() => undefined);
  const found = await Promise.race([count().catch(() => undefined), late]);
  isCounted.abort();
  return found;
}
