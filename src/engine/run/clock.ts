/** The clock of this host. Deadlines use the time since boot, so that setting the wall clock does not move them. */
import { readFileSync } from "node:fs";
import type { Instant } from "../model/index.ts";

export interface Clock {
  now(): Instant;
}

/** setTimeout takes 31 bits: a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Source: /proc/uptime, proc(5): CLOCK_BOOTTIME in hundredths of a second. It also counts while the host is suspended. */
export const systemClock: Clock = {
  now: () => ({
    bootId: bootId(),
    bootMs: Math.round(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000),
    wallMs: Date.now(),
  }),
};

let boot: string | undefined;

/** Constant while this process lives. */
export function bootId(): string {
  boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return boot;
}

/** A timer that can be set again. A delay longer than 31 bits fires early, so that the caller checks its deadlines whenever it fires. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Fires `ms` from now; undefined: never. */
  set(ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = ms === undefined ? undefined : setTimeout(this.#ring, Math.min(Math.max(0, Math.ceil(ms)), LONGEST_TIMER_MS));
  }
}

/** Calls a function at intervals. A call that takes longer than the interval is not overlapped by the next one. */
export class Repeating {
  readonly #timer: NodeJS.Timeout;
  #isBusy = false;

  /** @param action must not reject, because nobody awaits it */
  constructor(intervalMs: number, action: () => Promise<void>) {
    this.#timer = setInterval(() => void this.#turn(action), intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #turn(action: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await action();
    } finally {
      this.#isBusy = false;
    }
  }
}
