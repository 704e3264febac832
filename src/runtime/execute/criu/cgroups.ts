/** Cgroups of the processes that criu looks at and of those that it has made. */
import { allDirectories, cgroupProcesses, writeCgroupFile } from "../../cgroup/index.ts";
import { type Membership, parseMemberships } from "../../criu/index.ts";
import * as host from "../../host/index.ts";
import type { CgroupRecord } from "../../state/index.ts";

export function membershipsOf(pid: number): Membership[] {
  return parseMemberships(host.readFile(`/proc/${pid}/cgroup`, undefined, true));
}

/**
 * The image says where the processes were, also in a hierarchy in which they had no cgroup of their own; here they may have one. They stand
 * still. `pid`: the container's first process. @throws RuntError cgroup
 */
export function bringIntoCgroups(pid: number, cgroup: CgroupRecord | undefined): void {
  if (cgroup === undefined) return;
  const { version } = cgroup;
  const members = allDirectories(cgroup).map((path) => ({ path, pids: cgroupProcesses({ version, paths: [path] }) }));
  // The container's cgroups were empty before: who is in one of them now is criu, or made by it.
  const all = members.find(({ pids }) => pids.includes(pid))?.pids ?? [pid];
  for (const { path, pids } of members) if (!pids.includes(pid)) for (const one of all) attach(path, one);
}

function attach(path: string, pid: number): void {
  try {
    writeCgroupFile(`${path}/cgroup.procs`, String(pid));
  } catch (error) {
    // A helper of criu's that has ended meanwhile.
    if (host.procStat(pid)) throw error;
  }
}
