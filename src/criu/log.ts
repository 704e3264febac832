/** What criu's log says of a failure. Pure. */

/** `(00.012345)      1: Error (criu/mount.c:123): mnt: ...`: time and process are left out. */
const ERROR = /^(?:\([\d.]+\)\s*)?(?:\d+:\s*)?Error \([^)]*\): (.*)$/;

/** The first error: what follows is its consequence. undefined: none is written down. */
export function firstError(log: string): string | undefined {
  for (const line of log.split("\n")) {
    const match = ERROR.exec(line.trimEnd());
    if (match?.[1]) return match[1];
  }
  return undefined;
}
