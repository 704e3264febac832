/** Times. Deadlines are times of one boot: a wall clock that is set changes nothing. */

export interface Instant {
  /** /proc/sys/kernel/random/boot_id */
  readonly bootId: string;
  /** CLOCK_BOOTTIME in milliseconds: it also counts while the host sleeps. */
  readonly bootMs: number;
  /** Milliseconds since the epoch. For display only. */
  readonly wallMs: number;
}

export interface Deadline {
  readonly bootId: string;
  readonly bootMs: number;
}

export function after(now: Instant, ms: number): Deadline {
  return { bootId: now.bootId, bootMs: now.bootMs + ms };
}

/** A deadline of an earlier boot has passed: nothing that it was for is still there. */
export function hasPassed({ bootId, bootMs }: Deadline, now: Instant): boolean {
  return bootId !== now.bootId || bootMs <= now.bootMs;
}
