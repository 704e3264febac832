/**
 * A page of memory that the runtime and the helper share. A process that begins an operation stores its place in the plan there, without a system call; `inspect`
 * reads it through /proc/PID/fd of the runtime. The other words are hints of the rendezvous: the socket carries the messages.
 */
/** Names of the memfds, as they show in /proc/PID/fd. */
export const PROGRESS_NAME = "runt-progress";
export const PLAN_NAME = "runt-plan";

export const PAGE_BYTES = 4096;

/** Words of 32 bits by their places. An `inspect` of another build reads them, too: append, never move. */
export const PAGE_WORD = {
  /** The operation that each actor is in: its index in the plan + 1; 0: none yet. */
  runtime: 0,
  intermediate: 1,
  init: 2,
  helperPid: 3,
  initPid: 4,
  /** The number of the runtime's operation: its plan is not to be read. */
  runtimeOperation: 5,
  /** How many messages were sent to each side, and how many the runtime has received. */
  sentToRuntime: 6,
  sentToHelper: 7,
  receivedByRuntime: 8,
  /** Not 0: a process that waits for a message looks at the page for a while before it sleeps. */
  spins: 9,
  /** How many of the container's cgroups the runtime has made. */
  cgroups: 11,
  /** What is made before there is a plan: CLONE_NEW* that the intermediate unshares and that init is cloned with (0: none), and file systems (prepared.ts). */
  namespaces: 12,
  clone: 13,
  fileSystems: 14,
} as const;

/** What `inspect` reads: the words up to here. */
export const PAGE_WORDS_SHOWN = 6;

/*
 * The times of --trace: memory into which the helper stores when its operations begin and end, in nanoseconds; 0: not yet.
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
