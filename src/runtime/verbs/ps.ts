/** ps: the processes of a container, as the host sees them. */
import { cgroupCensus } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import { warn } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { readSummary } from "../state/index.ts";

/** Host pids, ascending; none when the container has stopped. A warning names the processes that are left out. */
export function processes({ root }: RuntimeOptions, id: string): readonly number[] {
  const { cgroup } = readSummary(root, id);
  if (!cgroup) throw new RuntError("cgroup", "ps requires the container to have a cgroup");
  const { pids, unseen, failure } = cgroupCensus(cgroup);
  if (unseen > 0) warn(`container ${id}: processes that cannot be seen from this PID namespace: ${unseen}`);
  if (failure !== undefined) warn(`container ${id}: not all of its cgroups could be read: ${host.reason(failure)}`);
  return [...pids].sort((one, other) => one - other);
}
