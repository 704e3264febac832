/** Retries an action until it succeeds, with growing delays. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Waits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** How much longer each wait is than the one before. */
  readonly factor: number;
  /** Each wait is up to this part of it longer, so that many who wait do not all come at once. */
  readonly jitter: number;
}

export interface Retry {
  readonly waits: Waits;
  /** Whether the same may succeed later; what may not is thrown. */
  readonly mayPass: (error: unknown) => boolean;
  /** Told of the first failure; those after it say the same. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds; for tests. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

export async function untilDone<T>(action: () => Promise<T>, { waits, mayPass, failed, wait = sleep }: Retry): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await action();
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (failures === 0) failed(error);
    }
    await wait(waitMs(failures, waits, Math.random()));
  }
}

/** @param share of the jitter, from 0 to 1 */
export function waitMs(failures: number, { firstMs, longestMs, factor, jitter }: Waits, share: number): number {
  return Math.min(firstMs * factor ** failures, longestMs) * (1 + jitter * share);
}
