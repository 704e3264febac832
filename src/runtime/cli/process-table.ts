/** Processes as ps(1) shows them with -ef. */
import { printable } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { userName } from "./users.ts";

/** Clock ticks of /proc in a second (sysconf(3), _SC_CLK_TCK): 100 on every architecture of Linux that is built today. */
const TICKS = 100;
const DAY_MS = 86_400_000;
const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** What /proc says of one process: texts of the files of these names. */
export interface ProcessFiles {
  readonly pid: number;
  readonly uid: number;
  readonly stat: string;
  readonly cmdline: string;
}

/** In milliseconds since 1970: now, and when the kernel began. */
export interface Clock {
  readonly now: number;
  readonly booted: number;
}

export const PROCESS_HEADING = line(["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]);

/** One row. Times are UTC. @param user what stands for the process's uid */
export function processLine({ pid, stat, cmdline }: ProcessFiles, user: string, { now, booted }: Clock): string {
  // proc_pid_stat(5): the name is in parentheses, and may have some of its own.
  const [open, close] = [stat.indexOf("("), stat.lastIndexOf(")")];
  const fields = stat.slice(close + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  const [parent, terminal, used, started] = [field(4), field(7), field(14) + field(15), booted + (field(22) * 1000) / TICKS];
  const share = Math.min(99, Math.floor((used * 100_000) / TICKS / Math.max(1, now - started)));
  const words = cmdline.split("\0").join(" ").trim();
  const command = words === "" ? `[${stat.slice(open + 1, close)}]` : words;
  return line([user, String(pid), String(parent), String(share), startOf(started, now), terminalOf(terminal), timeOf(used), command]);
}

function line([user, pid, parent, share, start, terminal, time, command]: readonly string[]): string {
  const numbers = [pid!.padStart(7), parent!.padStart(7), share!.padStart(2), start!.padEnd(5)];
  return [user!.padEnd(8), ...numbers, terminal!.padEnd(8), time!.padStart(8), command].join(" ");
}

/** Hours and minutes of today, the day of what began before. */
function startOf(started: number, now: number): string {
  const date = new Date(started);
  if (Math.floor(started / DAY_MS) === Math.floor(now / DAY_MS)) return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  return MONTHS.slice(date.getUTCMonth() * 3, date.getUTCMonth() * 3 + 3) + two(date.getUTCDate());
}

/** Major numbers 136 to 143 are pseudo terminals (devices.txt of the kernel); others have no name here. */
function terminalOf(device: number): string {
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  if (device === 0) return "?";
  return major >= 136 && major <= 143 ? `pts/${(major - 136) * 256 + minor}` : `${major}:${minor}`;
}

function timeOf(ticks: number): string {
  const seconds = Math.floor(ticks / TICKS);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => two(Math.floor(part))).join(":");
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

const READ_MOST = 64 << 10;

/** The processes of a container where there is no ps(1): a machine has none, and neither has a small host. */
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
