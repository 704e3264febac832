/** Times. Deadlines belong to one boot, so that setting the wall clock does not move them. */

export interface Instant {
  /** Source: /proc/sys/kernel/random/boot_id. */
  readonly bootId: string;
  /** CLOCK_BOOTTIME in milliseconds. It also counts while the host is suspended. */
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

/** A deadline of an earlier boot counts as passed, because nothing that it was set for has survived. */
export function hasPassed({ bootId, bootMs }: Deadline, now: Instant): boolean {
  return bootId !== now.bootId || bootMs <= now.bootMs;
}
