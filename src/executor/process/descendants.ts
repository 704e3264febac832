/** Processes by descent, where there is no cgroup to find them in. One that has left its parent (a daemon) is not found. */
import { readdirSync } from "node:fs";
import { processStat } from "./procfs.ts";

/** The process and all below it, in this moment. */
export function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = processStat(Number(name));
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), stat.pid]);
  }
  const found = [root];
  for (let at = 0; at < found.length; at++) found.push(...(children.get(found[at]!) ?? []));
  return found;
}

/** SIGKILL for all of them, stopped first so that none forks meanwhile. */
export function killDescendants(root: number): void {
  const known = new Set<number>();
  for (;;) {
    const fresh = descendants(root).filter((pid) => !known.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      known.add(pid);
      send(pid, "SIGSTOP");
    }
  }
  for (const pid of known) send(pid, "SIGKILL");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
