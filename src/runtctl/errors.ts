/** Exit statuses of the program. */

export const EXIT = {
  done: 0,
  /** The daemon refused the request, or it failed. */
  failed: 1,
  /** The command line is wrong: nothing was done. */
  usage: 2,
  /** No daemon answers. */
  unreachable: 3,
  /** plan --exit-code: applying would change something. */
  differs: 4,
} as const;

/** An error in the command line. Nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
