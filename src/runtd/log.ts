/** Writes one line of JSON for each event to stderr, where journald reads it. Who does not read costs the daemon neither time nor more memory than MOST_UNREAD. */

export type LogLevel = "info" | "error";

/** In characters. */
const MOST_UNREAD = 1 << 20;
let dropped = 0;

/** A line that finds so many unread ones is dropped. The next one that does not says how many were. */
export function log(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
  if (process.stderr.writableLength > MOST_UNREAD) {
    dropped++;
    return;
  }
  if (dropped > 0) write("error", "lines-dropped", { count: dropped });
  dropped = 0;
  write(level, event, facts);
}

interface Blockable {
  readonly _handle?: { readonly setBlocking?: (isBlocking: boolean) => number } | null;
}

/**
 * Node writes to a pipe or a socket without blocking. But whether it blocks is shared with all who have it: a child, or the shell that started the
 * daemon, may have changed it, and then a full one would stop the daemon.
 */
function keepFromBlocking(): void {
  const { _handle } = process.stderr as Blockable;
  if (!process.stderr.isTTY) _handle?.setBlocking?.(false);
}

function write(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>>): void {
  keepFromBlocking();
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...facts })}\n`);
}

/** An error for a log line: its code, if it has one, and its message. */
export function factsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { code } = (error ?? {}) as { code?: unknown };
  return { ...(code === undefined ? {} : { code }), message: error instanceof Error ? error.message : String(error) };
}

/** Logs errors only: for a program that runs in the foreground of a terminal. */
export const onlyErrors: typeof log = (level, event, facts) => {
  if (level === "error") log(level, event, facts);
};
