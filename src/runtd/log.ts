/** Writes one line of JSON for each event to stderr, where journald reads it. */

export type LogLevel = "info" | "error";

export function log(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
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
