/** Retries an action with growing delays until it succeeds. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Waits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Factor between one delay and the next. */
  readonly factor: number;
  /** A random part is added to each delay, at most this fraction of it, so that many retries do not come at the same moment. */
  readonly jitter: number;
}

export interface Retry {
  readonly waits: Waits;
  /** Whether a retry may succeed. Other errors are thrown. */
  readonly mayPass: (error: unknown) => boolean;
  /** Called with the first failure only, because later ones repeat it. */
  readonly failed: (error: unknown) => void;
  /** Waits this many milliseconds; tests replace it. */
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

/** Milliseconds to wait after this many failures. @param share random part of the jitter, from 0 to 1 */
export function waitMs(failures: number, { firstMs, longestMs, factor, jitter }: Waits, share: number): number {
  return Math.min(firstMs * factor ** failures, longestMs) * (1 + jitter * share);
}
