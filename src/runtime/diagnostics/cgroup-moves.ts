/**
 * How long the kernel takes to move a process into another cgroup, and what makes that shorter. It makes a cgroup below runt's own, moves runt
 * there and back, and removes it: on request only (`runt check --measure`).
 */
import { type CgroupHierarchies, type CgroupHierarchy, readHierarchies } from "../cgroup/index.ts";
import * as host from "../host/index.ts";

export interface CgroupMoves {
  /** Of one move, by a write to cgroup.procs. */
  readonly medianMicroseconds: number;
  readonly fastestMicroseconds: number;
  /** A runtime that joins by cgroup.procs waits in each of them. */
  readonly hierarchies: number;
  /** /sys/kernel/rcu_expedited: grace periods are short, at the price of interrupts on every processor (Documentation/admin-guide/kernel-parameters). */
  readonly rcuExpedited: boolean;
  /** Mount option of cgroup2: moves are short, forks and exits a little slower (Documentation/admin-guide/cgroup-v2). */
  readonly favorDynamicMods: boolean;
}

const ROUNDS = 4;
/** After a move the kernel is prepared for the next until a grace period has ended (rcu_sync): a container's is a first one. */
const PAUSE_MS = 100;

/** Throws a host error where the caller may not make a cgroup, or not move itself. undefined: there are no cgroups. */
export function measureCgroupMoves(): CgroupMoves | undefined {
  const facts = readHierarchies();
  const hierarchy = hierarchyToMeasure(facts);
  if (hierarchy === undefined) return undefined;
  const own = hierarchy.mountpoint + ownPath(facts.version, hierarchy, host.readFile("/proc/self/cgroup", undefined, true));
  const times = movesBelow(own).sort((a, b) => a - b);
  return {
    medianMicroseconds: Math.round(times[times.length >> 1] ?? 0),
    fastestMicroseconds: Math.round(times[0] ?? 0),
    hierarchies: facts.hierarchies.length,
    rcuExpedited: isExpedited(),
    favorDynamicMods: favorsDynamicMods(hierarchy.mountpoint, host.readFile("/proc/self/mountinfo", undefined, true)),
  };
}

/** A new cpuset of v1 takes no process, and a named hierarchy is its manager's. undefined: there are no cgroups. */
export function hierarchyToMeasure({ hierarchies }: CgroupHierarchies): CgroupHierarchy | undefined {
  const isPlain = ({ controllers }: CgroupHierarchy) => !controllers.some((name) => name === "cpuset" || name.startsWith("name="));
  return hierarchies.find(isPlain) ?? hierarchies[0];
}

/** Path of the caller's cgroup in a hierarchy. `text`: /proc/self/cgroup. */
export function ownPath(version: CgroupHierarchies["version"], { controllers: wanted }: CgroupHierarchy, text: string): string {
  for (const line of text.split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path !== "" && (version === 2 ? controllers === "" : controllers.split(",").includes(wanted[0] ?? "")))
      return path === "/" ? "" : path;
  }
  return "";
}

/** Whether the mount has the option. `text`: /proc/self/mountinfo. */
export function favorsDynamicMods(mountpoint: string, text: string): boolean {
  return text.split("\n").some((line) => {
    const [left = "", right = ""] = line.split(" - ");
    return left.split(" ")[4] === mountpoint && (right.split(" ")[2] ?? "").split(",").includes("favordynmods");
  });
}

/** Microseconds of each move. Signals wait meanwhile, so that the cgroup does not stay. */
function movesBelow(own: string): number[] {
  const child = `${own}/runt-check-${host.getpid()}`;
  host.blockSignals();
  try {
    host.mkdir(child, 0o755);
    try {
      return Array.from({ length: ROUNDS }, () => [moveAlone(child), moveAlone(own)]).flat();
    } finally {
      move(own);
      host.rmdir(child);
    }
  } finally {
    host.unblockSignals();
  }
}

function moveAlone(directory: string): number {
  host.poll([], [], PAUSE_MS);
  return move(directory);
}

function move(directory: string): number {
  const begin = host.clock();
  host.writeFile(`${directory}/cgroup.procs`, "0", host.O.WRONLY, 0);
  return host.clock() - begin;
}

function isExpedited(): boolean {
  try {
    return host.readFile("/sys/kernel/rcu_expedited", undefined, true).trim() === "1";
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES")) return false;
    throw error;
  }
}
