/** Processes by descent, where there is no cgroup to find them in. One that has left its parent (a daemon) is not found. */
import { readdirSync } from "node:fs";
import { isAlive, processStat } from "./procfs.ts";

export interface Descendant {
  readonly pid: number;
  readonly startTicks: string;
}

/** The process and all below it, in this moment. */
export function descendants(root: number): Descendant[] {
  const children = new Map<number, Descendant[]>();
  const found: Descendant[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = processStat(Number(name));
    if (stat === undefined) continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), stat]);
    if (stat.pid === root) found.push(stat);
  }
  for (let at = 0; at < found.length; at++) found.push(...(children.get(found[at]!.pid) ?? []));
  return found;
}

/**
 * SIGKILL for all of them, stopped first so that none forks meanwhile, and from the top: a stopped parent waits for no child, so that the child's pid
 * stays its own. Each is compared by its start time before it is signalled.
 */
export function killDescendants(root: number): void {
  const known = new Map<number, Descendant>();
  for (;;) {
    const fresh = descendants(root).filter(({ pid, startTicks }) => known.get(pid)?.startTicks !== startTicks);
    if (fresh.length === 0) break;
    for (const one of fresh) {
      known.set(one.pid, one);
      send(one, "SIGSTOP");
    }
  }
  for (const one of known.values()) send(one, "SIGKILL");
}

function send(one: Descendant, signal: NodeJS.Signals): void {
  if (!isAlive(one)) return;
  try {
    process.kill(one.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
