/** events and ps: what a container uses, when the kernel kills in it for memory, and its processes. */
import { type CgroupRef, cgroupCensus, readStats, type Stats, watchOom } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import { closePidfd, openPidfd, REFUSED, warn } from "../execute/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { deriveStatus, initState, readRecord, readSummary, type StateRecord } from "../state/index.ts";

export { statsJson } from "../cgroup/index.ts";

export type ContainerEvent = { readonly type: "stats"; readonly stats: Stats } | { readonly type: "oom" };

export function stats(options: RuntimeOptions, id: string): Stats {
  return readStats(running(options, id).cgroup);
}

/** Report statistics at every interval, and OOM kills at once, until the container's init has ended. */
export function streamEvents(options: RuntimeOptions, id: string, intervalMs: number, report: (event: ContainerEvent) => void): void {
  const { cgroup, record } = running(options, id);
  const pidfd = openPidfd(record);
  if (pidfd === undefined) throw notRunning(id);
  const watch = watchOom(cgroup);
  const fds = watch === undefined ? [pidfd] : [pidfd, watch.fd];
  const events = fds.map(() => host.POLL.IN);
  let next = host.monotonic() + intervalMs;
  for (let isOver = false; !isOver; ) {
    const [ended = 0] = host.poll(fds, events, Math.max(0, next - host.monotonic()));
    isOver = ended !== 0 || (pidfd === REFUSED && !initState(record));
    // Also at the end: the container may have ended by that kill.
    if (watch?.take()) report({ type: "oom" });
    if (isOver || host.monotonic() < next) continue;
    report({ type: "stats", stats: readStats(cgroup) });
    next = Math.max(next + intervalMs, host.monotonic());
  }
  watch?.close();
  closePidfd(pidfd);
}

function running({ root }: RuntimeOptions, id: string): { readonly record: StateRecord; readonly cgroup: CgroupRef } {
  const record = readRecord(root, id);
  const status = deriveStatus(root, record);
  if (status === "stopped" || status === "creating") throw notRunning(id);
  if (!record.cgroup) throw new RuntError("cgroup", "events requires the container to have a cgroup");
  return { record, cgroup: record.cgroup };
}

function notRunning(id: string): RuntError {
  return new RuntError("wrong-status", `container with id ${id} is not running`);
}

/** Host pids, ascending; none when the container has stopped. A warning names the processes that are left out. */
export function processes({ root }: RuntimeOptions, id: string): readonly number[] {
  const { cgroup } = readSummary(root, id);
  if (!cgroup) throw new RuntError("cgroup", "ps requires the container to have a cgroup");
  const { pids, unseen, failure } = cgroupCensus(cgroup);
  if (unseen > 0) warn(`container ${id}: processes that cannot be seen from this PID namespace: ${unseen}`);
  if (failure !== undefined) warn(`container ${id}: not all of its cgroups could be read: ${host.reason(failure)}`);
  return [...pids].sort((one, other) => one - other);
}
