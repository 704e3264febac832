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

/** Format of Node's messages for system errors: "ENOENT: no such file or directory, open 'x'". */
const SYSTEM_TEXT = /^[A-Z0-9]+: (.*?), \w+(?: '.*')?$/s;

/** An error with a message such as "web.yaml: no such file or directory", and with the code of the given error. */
export function fileError(path: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as NodeJS.ErrnoException;
  const text = code === "EISDIR" ? "it is a directory" : (SYSTEM_TEXT.exec(message)?.[1] ?? message);
  return Object.assign(new Error(`${path}: ${text}`, { cause: error }), { code });
}
