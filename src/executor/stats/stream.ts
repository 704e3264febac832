/** Statistics again and again, until the container ends. */
import { setTimeout as sleep } from "node:timers/promises";
import { aborted, ExecutorError } from "../errors.ts";
import type { Stats } from "./types.ts";

export interface StatsStreamOptions {
  /** Milliseconds between two values, from the start of one to the start of the next; at least 10. Default: 1000. */
  readonly intervalMs?: number;
  /** When it aborts, the loop gets ExecutorError aborted; `cause` is the signal's reason. The container goes on. */
  readonly signal?: AbortSignal;
}

const DEFAULT_INTERVAL_MS = 1_000;
const LOWEST_INTERVAL_MS = 10;

/** @throws ExecutorError invalid-argument */
export function checkStream({ intervalMs = DEFAULT_INTERVAL_MS }: StatsStreamOptions): void {
  if (Number.isFinite(intervalMs) && intervalMs >= LOWEST_INTERVAL_MS) return;
  throw new ExecutorError("invalid-argument", `intervalMs ${intervalMs} is below ${LOWEST_INTERVAL_MS}`, { field: "intervalMs" });
}

export interface StatsSource {
  /** undefined: the container has ended. */
  readonly read: () => Promise<Stats | undefined>;
  /** Call this at the end of the container. Returns how to be forgotten. */
  readonly atEnd: (wake: () => void) => () => void;
}

/** The first value comes at once. A timer exists only while the caller waits for the next value. */
export async function* statsStream(
  { read, atEnd }: StatsSource,
  { intervalMs = DEFAULT_INTERVAL_MS, signal }: StatsStreamOptions,
): AsyncGenerator<Stats, void, undefined> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const forget = atEnd(end);
  signal?.addEventListener("abort", end, { once: true });
  try {
    for (let next = performance.now(); ; next = Math.max(next + intervalMs, performance.now())) {
      if (!stop.signal.aborted) await sleep(Math.max(0, next - performance.now()), undefined, { signal: stop.signal }).catch(() => {});
      if (signal?.aborted) throw aborted("stats", signal);
      const stats = stop.signal.aborted ? undefined : await read();
      if (signal?.aborted) throw aborted("stats", signal);
      if (stats === undefined) return;
      yield stats;
    }
  } finally {
    forget();
    signal?.removeEventListener("abort", end);
  }
}
