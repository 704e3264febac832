/**
 * Memory into which the helper stores when its operations begin and end, for --trace, in nanoseconds; 0: not yet.
 * A head, then for each operation of the plan an entry; all words have 64 bits.
 */

/** Words of the head by their places: CLOCK_MONOTONIC, and for a start CLOCK_REALTIME beside it, for init may be in another time namespace. */
export const TRACE_HEAD = {
  /** The start of the intermediate. */
  intermediate: 0,
  intermediateRealtime: 1,
  /** The birth of init. */
  init: 2,
  initRealtime: 3,
  /** For how many operations there is room. */
  count: 4,
  /** When init was cloned before there was a plan. */
  cloned: 5,
} as const;
export const TRACE_HEAD_WORDS = 8;

/** Words of an entry. */
export const TRACE_ENTRY = { begin: 0, end: 1 } as const;
export const TRACE_ENTRY_WORDS = 2;

/** The time of an operation that began behind a seccomp filter, where the clock may not be asked. */
export const UNTIMED = 1;
