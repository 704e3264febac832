/** The processes of a container where there is no ps(1): a machine has none, and neither has a small host. */
import { printable } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type Clock, PROCESS_HEADING, type ProcessFiles, processLine } from "./process-table.ts";
import { userName } from "./users.ts";

const READ_MOST = 64 << 10;

export function processList(pids: readonly number[]): string {
  const clock = readClock();
  const rows = pids.flatMap((pid) => filesOf(pid) ?? []).map((files) => processLine(files, userName(files.uid), clock));
  return `${[PROCESS_HEADING, ...rows].map(printable).join("\n")}\n`;
}

function readClock(): Clock {
  const { seconds, nanoseconds } = host.now();
  const now = seconds * 1000 + Math.floor(nanoseconds / 1_000_000);
  return { now, booted: now - Number(host.readFile("/proc/uptime", undefined, true).split(" ")[0]) * 1000 };
}

/** undefined: it has ended. */
function filesOf(pid: number): ProcessFiles | undefined {
  try {
    const [stat, cmdline] = [readLatin(`/proc/${pid}/stat`), readLatin(`/proc/${pid}/cmdline`)];
    return { pid, uid: host.stat(`/proc/${pid}`)?.uid ?? 0, stat, cmdline };
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}

/** A program chooses its name and its words: they need not be UTF-8. */
function readLatin(path: string): string {
  const fd = host.open(path, host.O.RDONLY);
  try {
    return decoded(host.pread(fd, 0, READ_MOST));
  } finally {
    host.close(fd);
  }
}

function decoded(bytes: ArrayBuffer): string {
  try {
    return host.utf8Decode(bytes);
  } catch {
    return Array.from(new Uint8Array(bytes), (byte) => (byte < 0x80 ? String.fromCharCode(byte) : "?")).join("");
  }
}
