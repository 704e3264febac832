/**
 * Writes each event as one line of JSON to stderr, where journald reads it. A reader that does not read costs the daemon no time, and at most
 * MOST_UNREAD characters of memory.
 */

export type LogLevel = "info" | "error";

/** In characters. */
const MOST_UNREAD = 1 << 20;
let dropped = 0;

/** Drops the line if too much is unread. The next line that is written is preceded by the number of dropped ones. */
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
 * Makes stderr non-blocking again. Node sets it, but the mode is shared by all processes that have the same pipe or socket: a child, or the shell
 * that started the daemon, may have changed it. A full pipe would then block the daemon.
 */
function keepFromBlocking(): void {
  const { _handle } = process.stderr as Blockable;
  if (!process.stderr.isTTY) _handle?.setBlocking?.(false);
}

function write(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>>): void {
  keepFromBlocking();
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...facts })}\n`);
}

/** The fields of an error for a log line: its code, if it has one, and its message. */
export function factsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { code } = (error ?? {}) as { code?: unknown };
  return { ...(code === undefined ? {} : { code }), message: error instanceof Error ? error.message : String(error) };
}

/** Logs errors only: for a program that runs in the foreground of a terminal. */
export const onlyErrors: typeof log = (level, event, facts) => {
  if (level === "error") log(level, event, facts);
};
