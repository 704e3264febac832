/** What criu's log says of a failure. Pure. */

/** `(00.012345)      1: Error (criu/mount.c:123): mnt: ...`: time and process are left out. */
const ERROR = /^(?:\([\d.]+\)\s*)?(?:\d+:\s*)?Error \([^)]*\): (.*)$/;

/** What criu goes on after: it may not raise its own limit without CAP_SYS_RESOURCE; a parent image need not be there for every process. */
const HARMLESS = /^rlimit: Can't setup RLIMIT_NOFILE|^page-xfer: No parent image found/;

/** What is said of any failure, after its cause. */
const CONSEQUENCES: readonly RegExp[] = [
  /^(?:Pre-dumping|Dumping|Restoring|Lazy pages transfer) FAILED\.$/,
  /^(?:\d+ )?(?:exited, status=|killed by signal )\d+/,
  /^cg: cgroupd: recv req error/,
  /^\w[\w ]* \(pid: \d+\) failed with -?\d+$/,
  // Of processes that are let go, or were never reached.
  /^Unable to detach from \d+/,
];

/** Lines of other processes that may stand between two errors of one failure. */
const NEAR = 16;

interface LoggedError {
  readonly line: number;
  readonly text: string;
}

/**
 * The error that ended criu. Its last errors belong together where few lines are between them, and the first of those is the cause: what
 * follows says only at which step it was noticed. undefined: none is written down.
 */
export function endingError(log: string): string | undefined {
  const all = errorsOf(log);
  const causes = all.filter(({ text }) => !HARMLESS.test(text) && !CONSEQUENCES.some((pattern) => pattern.test(text)));
  let cause = causes.length - 1;
  if (cause === -1) return all.find(({ text }) => !HARMLESS.test(text))?.text;
  while (cause > 0 && causes[cause]!.line - causes[cause - 1]!.line <= NEAR) cause--;
  return causes[cause]!.text;
}

function errorsOf(log: string): LoggedError[] {
  return log.split("\n").flatMap((text, line) => {
    const match = ERROR.exec(text.trimEnd());
    return match?.[1] ? [{ line, text: match[1] }] : [];
  });
}
