/** Whether a container may have the cgroup that it is to get, where some of it exists already. */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { allDirectories, type CgroupBefore, type CgroupRef } from "../model.ts";
import { isFrozen } from "./freeze.ts";
import { findLevels } from "./levels.ts";
import { type ContainerMark, markOf } from "./mark.ts";
import { memoryPressure } from "./oom-watch.ts";
import { cgroupCensus } from "./processes.ts";

/**
 * Refuse a cgroup that somebody else's processes live in, or that is frozen: the container could not be told from them.
 * To be called before anything is recorded or made. Returns what is there already and what is missing, for the record.
 * @throws RuntError cgroup, in the words that runc uses
 */
export function refuseUsed({ systemd, ...cgroup }: CgroupRef & { readonly systemd?: unknown }): CgroupBefore {
  // The levels that runt has made are missing, too: another container may take them away, and this one make them again.
  const { kept, missing } = findLevels(allDirectories(cgroup));
  if (kept.length === 0) return { missing };
  const existing: CgroupRef = { version: cgroup.version, paths: kept };
  const { pids, unseen } = cgroupCensus(existing);
  const length = pids.size + unseen;
  if (length > 0) throw new RuntError("cgroup", `container's cgroup is not empty: ${length} process(es) found`);
  const { unified } = cgroup;
  const isFrozenBeside = unified !== undefined && kept.includes(unified) && isFrozen({ version: 2, paths: [unified] });
  if (isFrozen(existing) || isFrozenBeside) throw new RuntError("cgroup", "container's cgroup unexpectedly frozen");
  // Of its units systemd knows what there is.
  const left = systemd === undefined ? withoutFormer(kept) : kept;
  const oomKills = memoryPressure(existing)?.kills ?? 0;
  return { missing, ...(left.length > 0 && { kept: left }), ...(oomKills > 0 && { oomKills }) };
}

/**
 * Removes directories of a former container that have no process any more, so that this container makes its own. Verbs on the former one then leave
 * them alone. On v1 its
 * first directory alone has the mark, which says what was there before it. rmdir(2) knows of processes that cannot be seen from here, too.
 */
function withoutFormer(kept: readonly string[]): readonly string[] {
  const mark = kept.map(markOf).find((found) => found !== undefined);
  if (mark === undefined) return kept;
  if (isAtWork(mark)) throw new RuntError("cgroup", `container's cgroup is being used for container ${mark.id}`);
  return kept.filter((path) => {
    if (mark.kept?.includes(path)) return true;
    try {
      host.rmdir(path);
    } catch (error) {
      if (host.isErrno(error, "EBUSY", "ENOTEMPTY")) {
        throw new RuntError("cgroup", `container's cgroup is not empty: ${path} is in use by container ${mark.id}`);
      }
      if (!host.isErrno(error, "ENOENT")) throw error;
    }
    return false;
  });
}

/** A verb holds the lock of its state: its init may be about to come. */
function isAtWork({ root, id }: ContainerMark): boolean {
  let fd: number;
  try {
    fd = host.open(`${root}/${id}`, host.O.RDONLY | host.O.DIRECTORY | host.O.NOFOLLOW);
  } catch (error) {
    if (error instanceof Error && "errno" in error) return false;
    throw error;
  }
  try {
    return !host.flock(fd, host.LOCK.SH | host.LOCK.NB);
  } finally {
    host.close(fd);
  }
}
