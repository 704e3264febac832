/** Processes around the containers of a state directory, for tests that kill them: found by what they have written of themselves, and by their command line. */
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type VictimKind = "pump" | "monitor" | "runt";

export interface Victim {
  readonly pid: number;
  /** Of its container. */
  readonly id: string;
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** A test may have put a FIFO into its place, which is not waited for. */
const jsonOf = <T>(path: string): T | undefined => {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return JSON.parse(readFileSync(fd, "utf8")) as T;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

interface Process {
  readonly pid: number;
  readonly startTicks: string;
}

/** Its pid may be another's by now. */
function isSame({ pid, startTicks }: Process): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state !== "Z" && fields[18] === startTicks;
}

/** Those that are there now. */
export function victimsOf(executors: string, kind: VictimKind): Victim[] {
  const ids = existsSync(executors) ? readdirSync(executors).filter((id) => !id.startsWith("@")) : [];
  if (kind === "runt") return runtsOf(executors, ids);
  return ids.flatMap((id) => {
    const record = join(executors, id, "record.json");
    const found = kind === "pump" ? jsonOf<Process>(`${record}.log`) : jsonOf<{ monitor?: Process; pid?: number; phase: string }>(record);
    const process =
      found === undefined || !("monitor" in found) ? (found as Process | undefined) : found.pid === undefined ? undefined : found.monitor;
    return process?.pid !== undefined && isSame(process) ? [{ pid: process.pid, id }] : [];
  });
}

/** What the daemon has started of the runtime: a verb that is at work. */
function runtsOf(executors: string, ids: readonly string[]): Victim[] {
  const keepers = new Set((["pump", "monitor"] as const).flatMap((kind) => victimsOf(executors, kind)).map(({ pid }) => pid));
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || keepers.has(pid)) return [];
    const words = textOf(`/proc/${pid}/cmdline`).split("\0");
    if (!words[0]?.endsWith("/runt") || !words.some((word) => word.startsWith(executors))) return [];
    const id = ids.find((one) => words.includes(one));
    return id === undefined ? [] : [{ pid, id }];
  });
}
