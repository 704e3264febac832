/** The end of everything that one exec has started. */

import { existsSync, readdirSync } from "node:fs";
import { RuntimeError } from "../errors.ts";
import { processesIn, type SubCgroup } from "../process/cgroups.ts";
import { isAlive, processStat, readProc, slices, unlessShortage } from "../process/procfs.ts";
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
  if (pid !== undefined) await killDescendants(pid);
  if (sub === undefined || (pid === undefined && !isThere()) || (await signalCgroup(processes, "SIGKILL"))) return [];
  return processesIn([sub.directory]);
}

/** Processes by descent, where there is no cgroup to find them in. One that has left its parent (a daemon) is not found. */
interface Descendant {
  readonly pid: number;
  readonly startTicks: string;
}

/** The children that a process seems to have. Each has to be compared: a pid may belong to another process by now. */
type ChildrenOf = (pid: number) => Promise<readonly number[]>;

/** The process and all below it, in this moment. Other work of this process goes on meanwhile: there may be tens of thousands of them. @throws as readProc */
export async function descendants(root: Descendant): Promise<Descendant[]> {
  const turn = slices();
  // The files are there if the kernel was built with CONFIG_PROC_CHILDREN.
  const childrenOf = existsSync(`/proc/self/task/${process.pid}/children`)
    ? (pid: number) => listedChildren(pid, turn)
    : await allChildren(turn);
  const found: Descendant[] = isSame(root) ? [root] : [];
  // What is appended meanwhile is visited, too.
  for (const parent of found) {
    const children: Descendant[] = [];
    for (const pid of await childrenOf(parent.pid)) {
      const stat = processStat(pid);
      if (stat?.parent === parent.pid) children.push(stat);
      await turn();
    }
    // If the parent has ended meanwhile, these may be the children of another process that has got its pid.
    if (isSame(parent)) for (const child of children) found.push(child);
  }
  return found;
}

async function listedChildren(pid: number, turn: ReturnType<typeof slices>): Promise<readonly number[]> {
  const children: number[] = [];
  for (const thread of threadsOf(pid)) {
    for (const child of (readProc(pid, `task/${thread}/children`) ?? "").split(" ")) if (child !== "") children.push(Number(child));
    await turn();
  }
  return children;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    return unlessShortage(error) ?? [];
  }
}

/** Of all processes of the host. */
async function allChildren(turn: ReturnType<typeof slices>): Promise<ChildrenOf> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : undefined;
    const siblings = stat && children.get(stat.parent);
    if (siblings !== undefined) siblings.push(stat!.pid);
    else if (stat !== undefined) children.set(stat.parent, [stat.pid]);
    await turn();
  }
  return async (pid) => children.get(pid) ?? [];
}

/** It may be a zombie, whose threads can still have children. */
function isSame({ pid, startTicks }: Descendant): boolean {
  return processStat(pid)?.startTicks === startTicks;
}

/** Passes over all processes. Only one that forks as fast as it is stopped needs more than a few. */
const MOST_PASSES = 50;

/**
 * SIGKILL for all of them, stopped first so that none forks meanwhile, and from the top: a stopped parent waits for no child, so that the child's pid
 * stays its own. Each is compared by its start time before it is signalled.
 * @param pid of a child of this process that it has not waited for. @throws as readProc
 */
export async function killDescendants(pid: number): Promise<void> {
  const root = processStat(pid);
  if (root === undefined) return;
  const known = new Map<number, Descendant>();
  const turn = slices();
  try {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      let isNew = false;
      for (const one of await descendants(root)) {
        if (known.get(one.pid)?.startTicks === one.startTicks) continue;
        isNew = true;
        known.set(one.pid, one);
        send(one, "SIGSTOP");
        await turn();
      }
      if (!isNew) break;
    }
  } finally {
    // None of them stays stopped, also if the look at the others has failed.
    for (const one of known.values()) {
      send(one, "SIGKILL");
      await turn();
    }
  }
}

function send(one: Descendant, signal: NodeJS.Signals): void {
  if (!isAlive(one)) return;
  try {
    process.kill(one.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
