/** The processes of a cgroup. The walk goes by descriptors, because a container may make cgroups deeper than any path. */
import * as host from "../../host/index.ts";
import { walk } from "../../host/index.ts";
import { allDirectories, type CgroupRef } from "../model.ts";
import { hasChildren, readIfThere } from "./tree.ts";

export interface Census {
  /** Host pids, that is those of this PID namespace. */
  readonly pids: ReadonlySet<number>;
  /** How many there are of other PID namespaces, which the kernel lists as 0. */
  readonly unseen: number;
  /** Why it is not complete: the first cgroup that could not be read. */
  readonly failure: unknown;
}

/**
 * All processes of a cgroup and of everything below it. A cgroup that cannot be read is counted as unseen, and the others are read all the same.
 * @param pids those of other cgroups, to which these are added
 */
export function census(directory: string, pids = new Set<number>()): Census {
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
  return { pids, unseen, failure };
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

/** Hierarchies beside each other agree unless the container moves its own processes about, so all are asked. */
export function cgroupCensus(cgroup: CgroupRef): Census {
  const pids = new Set<number>();
  let unseen = 0;
  let failure: unknown;
  for (const path of allDirectories(cgroup)) {
    const one = census(path, pids);
    unseen = Math.max(unseen, one.unseen);
    failure ??= one.failure;
  }
  return { pids, unseen, failure };
}

/** All processes of a container that can be seen from here, ascending. */
export function cgroupProcesses(cgroup: CgroupRef): number[] {
  return ascending(cgroupCensus(cgroup).pids);
}

export function ascending(pids: Iterable<number>): number[] {
  return [...pids].sort((one, other) => one - other);
}
