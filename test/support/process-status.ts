/** Reads what a process is doing, for tests that wait for it instead of for a time. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether it has a handler for this signal (SigCgt of proc_pid_status(5)): a shell's trap is set. False for one that is not there. */
export const catches = (pid: number, signal: number): boolean => has(pid, "SigCgt", signal);

/** Whether it blocks the signal, as who reads it from a descriptor does (signalfd(2)). */
export const blocks = (pid: number, signal: number): boolean => has(pid, "SigBlk", signal);

function has(pid: number, set: "SigCgt" | "SigBlk", signal: number): boolean {
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)`, "m").exec(textOf(`/proc/${pid}/status`))?.[1] ?? "0";
  return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
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
