/** Features of the kernel, by its version. */
import { release } from "node:os";

function isAtLeast(major: number, minor: number): boolean {
  const [own = 0, ownMinor = 0] = release().split(".").map(Number);
  return own > major || (own === major && ownMinor >= minor);
}

/** A process that joins a cgroup keeps the CPUs it has chosen (sched_setaffinity(2), Linux 6.2). */
export const keepsAffinity = isAtLeast(6, 2);

/** tmpfs can be mapped (Linux 6.3). */
export const mapsTmpfs = isAtLeast(6, 3);
