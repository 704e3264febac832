/** The processes that hold the lock of a container's directory. */
import { lockedFile } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

/** Processes that hold a flock(2) on it, by pid; those that the caller's pid namespace does not know are left out. */
export function holdersOf(directory: string): number[] {
  const found = host.stat(directory);
  return found ? lockHolders(locks(), found) : [];
}

function locks(): string {
  try {
    return host.readFile("/proc/locks", undefined, true);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES", "EPERM")) return "";
    throw error;
  }
}

/** Pids that hold a flock(2) on it (proc_locks(5)): "1: FLOCK  ADVISORY  WRITE 708 00:19:4321 0 EOF". */
export function lockHolders(text: string, { dev, ino }: Pick<host.Stat, "dev" | "ino">): number[] {
  const wanted = lockedFile(dev, ino);
  return text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, kind, , , , file]) => kind === "FLOCK" && file === wanted)
    .map(([, , , , pid]) => Number(pid))
    .filter((pid) => pid > 0);
}

/** The error of `lock`; `forced`: the error of delete --force, which ends no process that is not runt. */
export function locked(directory: string, milliseconds: number, forced = false): RuntError {
  const id = directory.slice(directory.lastIndexOf("/") + 1);
  const who = holdersOf(directory).map(described).join(", ") || "a process that cannot be seen from here";
  return new RuntError("id-locked", `container ${id} has been locked for more than ${milliseconds / 1000} s by ${who}`, {
    hint: forced ? "wait for it, or end it" : `wait for it, or end it; delete --force ${id} ends it and removes the container`,
  });
}

const COMMAND_MAX = 120;

function described(pid: number): string {
  let words = "";
  try {
    words = host.readFile(`/proc/${pid}/cmdline`, undefined, true).split("\0").join(" ").trim();
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
  }
  return `process ${pid}${words === "" ? "" : ` (${words.slice(0, COMMAND_MAX)})`}`;
}
