/**
 * Converts records to the stream protocol of systemd's journal: a header of a few lines, followed by log lines. Pure.
 * Source: sd_journal_stream_fd(3), and the way journald parses the stream.
 */
import type { LogRecord } from "./record.ts";

/** The stream socket of journald. */
export const JOURNAL_SOCKET = "/run/systemd/journal/stdout";

/** Priorities of syslog(3). */
const PRIORITY: Readonly<Record<LogRecord["stream"], number>> = { stdout: 6, stderr: 3, runt: 5 };
const NUL = 0;
const BLANK = 0x20;

/** The header: identifier, no unit, default priority, each line has its own priority, and no forwarding to other targets. @param identifier contains no newline */
export function journalGreeting(identifier: string): Buffer {
  return Buffer.from(`${identifier}\n\n${PRIORITY.stdout}\n1\n0\n0\n0\n`);
}

/**
 * Converts a record, or a part of a line, to one line. NUL bytes are replaced: journald would end the line there, and the rest could pretend to have another priority.
 */
export function journalLine({ stream, bytes }: LogRecord): Buffer {
  const text = Buffer.from(bytes.map((byte) => (byte === NUL ? BLANK : byte)));
  return Buffer.concat([Buffer.from(`<${PRIORITY[stream]}>`), text, Buffer.from("\n")]);
}
