/** Messages to systemd's journal, through the stream socket that systemd-cat(1) uses too. */
import * as host from "../host/index.ts";

const SOCKET = "/run/systemd/journal/stdout";
/** LOG_ERR of syslog(3). */
const PRIORITY_ERROR = 3;

/** One error, or what has another priority of syslog(3), of this identifier (`journalctl -t IDENTIFIER`). */
export function writeToJournal(identifier: string, message: string, priority = PRIORITY_ERROR): void {
  const socket = host.connect(SOCKET);
  try {
    // Identifier, unit, priority, whether lines have a level of their own, and whether to forward to syslog, kernel log and console.
    const header = [singleLine(identifier), "", priority, 0, 0, 0, 0].join("\n");
    host.write(socket, `${header}\n${singleLine(message)}\n`);
  } finally {
    host.close(socket);
  }
}

/** A line is a field of the header, or a message. */
function singleLine(text: string): string {
  return text.trim().replaceAll("\n", "; ");
}
