/** The end of everything that one exec has started. */

import { readdirSync } from "node:fs";
import { RuntimeError } from "../errors.ts";
import { processesIn, type SubCgroup } from "../process/cgroups.ts";
import { isAlive, processStat } from "../process/procfs.ts";
import type { Runtime } from "../runtime/client.ts";

export interface ExecProcesses {
  readonly runtime: Runtime;
  /** Of the container. */
  readonly id: string;
  readonly sub: SubCgroup | undefined;
  /** `runt exec`: a child of this process that it has not waited for. undefined: it has ended. */
  readonly pid: () => number | undefined;
}

/**
 * A signal to every process in the exec's cgroup that is the container's: `runt` decides that, by marks and pidfds (docs/cgroups.md). False: there is no
 * such cgroup, or the container has ended.
 */
export async function signalCgroup({ runtime, id, sub }: ExecProcesses, signal: string): Promise<boolean> {
  if (sub === undefined) return false;
  try {
    await runtime.kill(id, signal, { cgroup: sub.flag });
    return true;
  } catch (error) {
    if (error instanceof RuntimeError && (error.code === "cgroup" || error.code === "id-unknown")) return false;
    throw error;
  }
}

/** SIGKILL for all of it; its `runt`, which is no part of the container, ends with it. Returns the host pids that are left. */
export async function killExec(processes: ExecProcesses): Promise<readonly number[]> {
  const { sub } = processes;
  const isThere = () => sub !== undefined && processesIn([sub.directory]).length > 0;
  if (isThere()) await signalCgroup(processes, "SIGKILL");
  // Without a cgroup, or when it has not come that far, or is not the container's: what descends from it.
  const pid = processes.pid();
  if (pid !== undefined) killDescendants(pid);
  if (sub === undefined || (pid === undefined && !isThere()) || (await signalCgroup(processes, "SIGKILL"))) return [];
  return processesIn([sub.directory]);
}

/** Processes by descent, where there is no cgroup to find them in. One that has left its parent (a daemon) is not found. */
interface Descendant {
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
