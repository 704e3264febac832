/**
 * The file systems that nearly every configuration mounts. An init that waits for its plan makes them in the meantime, with their usual options, and
 * the plan takes those that are as it wants them. The number of each is its bit in the page's word `fileSystems`.
 */

/** In the order of the usual configuration. */
export const PREPARED = {
  proc: 0,
  /** With nosuid, nodev and noexec, as engines ask for it. */
  safeProc: 1,
  dev: 2,
  devpts: 3,
  shm: 4,
  mqueue: 5,
  sysfs: 6,
} as const;
