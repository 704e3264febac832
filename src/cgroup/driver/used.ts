/** Whether a container may have the cgroup that it is to get, where some of it exists already. */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupBefore, CgroupRef } from "../facts.ts";
import { MARK } from "./create.ts";
import { isFrozen } from "./freeze.ts";
import { containerOn } from "./mark.ts";
import { memoryPressure } from "./oom.ts";
import { cgroupCensus } from "./processes.ts";

/**
 * Refuse a cgroup that somebody else's processes live in, that is frozen, or that is another container's: verbs on either could not tell them apart.
 * To be called before anything is recorded or made. Returns what is there already and what is missing, for the record.
 * @throws RuntError cgroup, in the words that runc uses
 */
export function refuseUsed({ version, paths }: CgroupRef): CgroupBefore {
  // The levels that runt has made are missing, too: another container may take them away, and this one make them again.
  const { kept, missing } = host.findLevels(paths, MARK);
  if (kept.length === 0) return { missing };
  const existing: CgroupRef = { version, paths: kept };
  const { pids, unseen } = cgroupCensus(existing);
  const length = pids.size + unseen;
  if (length > 0) throw new RuntError("cgroup", `container's cgroup is not empty: ${length} process(es) found`);
  for (const path of kept) refuseMarked(path);
  if (isFrozen(existing)) throw new RuntError("cgroup", "container's cgroup unexpectedly frozen");
  const oomKills = memoryPressure(existing)?.kills ?? 0;
  return { missing, kept, ...(oomKills > 0 ? { oomKills } : {}) };
}

/** A container whose state is there may still come back to its cgroup, or be about to enter it; a mark without one is left over. */
function refuseMarked(path: string): void {
  const mark = containerOn(path);
  if (mark === undefined || !host.lstat(`${mark.root}/${mark.id}`)) return;
  throw new RuntError("cgroup", `container's cgroup is that of container ${mark.id}: ${path}`, {
    hint: `runt --root ${mark.root} delete ${mark.id}, or another cgroupsPath`,
  });
}
