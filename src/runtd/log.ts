/** One line of JSON for each event, on stderr, where journald takes it. */

export type LogLevel = "info" | "error";

export function log(level: LogLevel, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...facts })}\n`);
}

/** For a log line: its code where it has one, and its text. */
export function factsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { code } = error as { code?: unknown };
  return { ...(code === undefined ? {} : { code }), message: error instanceof Error ? error.message : String(error) };
}

/** For a program that people look at. */
export const onlyErrors: typeof log = (level, event, facts) => {
  if (level === "error") log(level, event, facts);
};
