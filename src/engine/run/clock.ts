/** The clock of this host for the model. Deadlines use the time since boot, so setting the wall clock changes nothing. */
import { readFileSync } from "node:fs";
import type { Instant } from "../model/index.ts";

export interface Clock {
  now(): Instant;
}

/** setTimeout has 31 bits: a longer time would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** CLOCK_BOOTTIME is what /proc/uptime shows (proc(5)), in hundredths of a second; it also counts while the host sleeps. */
export const systemClock: Clock = {
  now: () => ({
    bootId: bootId(),
    bootMs: Math.round(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000),
    wallMs: Date.now(),
  }),
};

let boot: string | undefined;

/** The same for the life of this process. */
export function bootId(): string {
  boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return boot;
}

/** A timer that may be armed again. The caller looks at its deadlines when it rings: a long one rings early. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** `ms` from now; undefined: not at all. */
  set(ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = ms === undefined ? undefined : setTimeout(this.#ring, Math.min(Math.max(0, Math.ceil(ms)), LONGEST_TIMER_MS));
  }
}
