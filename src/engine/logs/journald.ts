/**
 * Records of a log in the stream protocol of systemd's journal: a few lines about the stream, and then its lines. Pure.
 * Source: sd_journal_stream_fd(3), and journald's own reading of what comes.
 */
import type { LogRecord } from "./record.ts";

/** Its stream socket. */
export const JOURNAL_SOCKET = "/run/systemd/journal/stdout";

/** As syslog(3) has them. */
const PRIORITY: Readonly<Record<LogRecord["stream"], number>> = { stdout: 6, stderr: 3, runt: 5 };
const NUL = 0;
const BLANK = 0x20;

/** Identifier, no unit, the usual priority, that each line says its own, and that nothing goes anywhere else. @param identifier without a newline */
export function journalGreeting(identifier: string): Buffer {
  return Buffer.from(`${identifier}\n\n${PRIORITY.stdout}\n1\n0\n0\n0\n`);
}

/** One line: part of a longer one, too. A NUL would end it, and what is behind it could claim to be an emergency. */
export function journalLine({ stream, bytes }: LogRecord): Buffer {
  const text = Buffer.from(bytes.map((byte) => (byte === NUL ? BLANK : byte)));
  return Buffer.concat([Buffer.from(`<${PRIORITY[stream]}>`), text, Buffer.from("\n")]);
}
