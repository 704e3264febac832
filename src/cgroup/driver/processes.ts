/** Who is in a cgroup: found by descriptors, for a container may make cgroups deeper than any path. */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { walk } from "../../host/walk.ts";
import type { CgroupBefore, CgroupRef } from "../facts.ts";
import { MARK } from "./create.ts";
import { isFrozen } from "./freeze.ts";
import { memoryPressure } from "./oom.ts";
import { hasChildren, readIfThere } from "./tree.ts";

export interface Census {
  /** Host pids, that is those of this PID namespace. */
  readonly pids: ReadonlySet<number>;
  /** How many there are of other PID namespaces, which the kernel lists as 0. */
  readonly unseen: number;
  /** Why it is not complete: the first cgroup that could not be read. */
  readonly failure?: unknown;
}

/** All processes of a cgroup and of everything below it. A cgroup that cannot be read keeps nobody from counting the others. */
export function census(directory: string): Census {
  const pids = new Set<number>();
  let unseen = 0;
  let failure: unknown;
  const count = (path: string): void => {
    try {
      for (const pid of processesOf(path)) {
        if (pid > 0) pids.add(pid);
        else unseen++;
      }
    } catch (error) {
      failure ??= error;
    }
  };
  try {
    if (hasChildren(directory)) {
      walk(directory, {
        enter({ path }) {
          count(path);
          return true;
        },
        missed: (_, error) => {
          if (!host.isErrno(error, "ENOENT", "ENODEV")) failure ??= error;
        },
      });
    } else count(directory);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ENOTDIR", "ENODEV")) failure ??= error;
  }
  return { pids, unseen, ...(failure === undefined ? {} : { failure }) };
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
  if (thread === 0) return 0;
  const leader = /^Tgid:\s*(\d+)$/m.exec(readIfThere(`/proc/${thread}/status`) ?? "")?.[1];
  return leader === undefined ? undefined : Number(leader);
}

/** v1 hierarchies agree unless the container moves its own processes about, so all are asked. */
export function cgroupCensus({ paths }: CgroupRef): Census {
  const all = paths.map(census);
  const failure = all.find((one) => one.failure !== undefined)?.failure;
  return {
    pids: new Set(all.flatMap(({ pids }) => [...pids])),
    unseen: Math.max(0, ...all.map(({ unseen }) => unseen)),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** All processes of a container that can be seen from here, ascending. */
export function cgroupProcesses(cgroup: CgroupRef): number[] {
  return ascending(cgroupCensus(cgroup).pids);
}

export function ascending(pids: Iterable<number>): number[] {
  return [...pids].sort((one, other) => one - other);
}

/**
 * Refuse a cgroup that somebody else's processes live in, or that is frozen: the container could not be told from them.
 * To be called before anything is recorded or made. Cheap when the cgroup does not exist.
 * Returns what is there already and what is missing, for the record.
 * @throws RuntError cgroup, in the words that runc uses.
 */
export function refuseUsed({ version, paths }: CgroupRef): CgroupBefore {
  // The levels that runt has made are missing, too: another container may take them away, and this one make them again.
  const { kept, missing } = host.findLevels(paths, MARK);
  if (kept.length === 0) return { missing };
  const existing: CgroupRef = { version, paths: kept };
  const { pids, unseen } = cgroupCensus(existing);
  const length = pids.size + unseen;
  if (length > 0) throw new RuntError("cgroup", `container's cgroup is not empty: ${length} process(es) found`);
  if (isFrozen(existing)) throw new RuntError("cgroup", "container's cgroup unexpectedly frozen");
  const oomKills = memoryPressure(existing)?.kills ?? 0;
  return { missing, kept, ...(oomKills > 0 ? { oomKills } : {}) };
}
