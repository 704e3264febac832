import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupBefore, CgroupRef } from "../facts.ts";
import { MARK } from "./create.ts";
import { isFrozen } from "./freeze.ts";
import { memoryPressure } from "./oom.ts";
import { children, readIfThere } from "./tree.ts";

/** All processes of a cgroup and of everything below it, in host pids. */
function processesBelow(directory: string): number[] {
  const pids = processesOf(directory);
  for (const child of children(directory)) pids.push(...processesBelow(child));
  return pids;
}

function processesOf(directory: string): number[] {
  try {
    return numbers(readIfThere(`${directory}/cgroup.procs`));
  } catch (error) {
    // A threaded cgroup of v2 has threads only; what they belong to may be listed in a cgroup above the container's.
    if (!host.isErrno(error, "EOPNOTSUPP")) throw error;
    return numbers(readIfThere(`${directory}/cgroup.threads`)).flatMap((thread) => leaderOf(thread) ?? []);
  }
}

function numbers(text = ""): number[] {
  return text.split("\n").filter(Boolean).map(Number);
}

/** The process of a thread; undefined when it has ended. */
function leaderOf(thread: number): number | undefined {
  const leader = /^Tgid:\s*(\d+)$/m.exec(readIfThere(`/proc/${thread}/status`) ?? "")?.[1];
  return leader === undefined ? undefined : Number(leader);
}

/** All processes of a container, ascending. v1 hierarchies agree unless the container moves its own processes about, so all are asked. */
export function cgroupProcesses({ paths }: CgroupRef): number[] {
  return [...new Set(paths.flatMap(processesBelow))].sort((one, other) => one - other);
}

/**
 * Refuse a cgroup that somebody else's processes live in, or that is frozen: the container could not be told from them.
 * To be called before anything is recorded or made, or undoing would kill those processes. Cheap when the cgroup does not exist.
 * Returns what is there already and what is missing, for the record.
 * @throws RuntError cgroup, in the words that runc uses.
 */
export function refuseUsed({ version, paths }: CgroupRef): CgroupBefore {
  // The levels that runt has made are missing, too: another container may take them away, and this one make them again.
  const { kept, missing } = host.findLevels(paths, MARK);
  if (kept.length === 0) return { missing };
  const existing: CgroupRef = { version, paths: kept };
  const { length } = cgroupProcesses(existing);
  if (length > 0) throw new RuntError("cgroup", `container's cgroup is not empty: ${length} process(es) found`);
  if (isFrozen(existing)) throw new RuntError("cgroup", "container's cgroup unexpectedly frozen");
  const oomKills = memoryPressure(existing)?.kills ?? 0;
  return { missing, kept, ...(oomKills > 0 ? { oomKills } : {}) };
}
