/** How the program ends. */

export const EXIT = {
  done: 0,
  /** The daemon refused it, or it did not work. */
  failed: 1,
  /** The command line is wrong: nothing was done. */
  usage: 2,
  /** No daemon answers. */
  unreachable: 3,
  /** plan --exit-code: applying would change something. */
  differs: 4,
} as const;

/** Something is wrong with the command line: nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
