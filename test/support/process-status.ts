/** Reads what a process is doing, for tests that wait for it instead of for a time. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether it has a handler for this signal (SigCgt of proc_pid_status(5)): a shell's trap is set. False for one that is not there. */
export function catches(pid: number, signal: number): boolean {
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & (1n << BigInt(signal - 1))) !== 0n;
  } catch {
    return false;
  }
}

/** Whether it waits for events of a cgroup: it has an eventfd (v1) or an inotify descriptor (v2). */
export function listensForEvents(pid: number): boolean {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return links.some((link) => /^anon_inode:(?:\[eventfd\]|inotify)/.test(link));
  } catch {
    return false;
  }
}

/** Whether it has a lock on any of its files (proc_pid_fdinfo(5)). False for a process that is not there. */
export function holdsLock(pid: number): boolean {
  const directory = `/proc/${pid}/fdinfo`;
  try {
    return readdirSync(directory).some((fd) => textOf(`${directory}/${fd}`).includes("FLOCK"));
  } catch {
    return false;
  }
}

/** Of a file that may go meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
