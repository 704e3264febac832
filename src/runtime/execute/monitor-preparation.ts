/** What the monitor of a foreground container is given: all that does not depend on the container's start. */
import { MONITOR_STEP } from "../../shared/protocol/index.ts";
import { allDirectories, markedParents } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { containerDirectory } from "../state/index.ts";
import type { Execution, MonitorPreparation } from "./execution.ts";

/** @param keep state and cgroup stay after the container's end */
export function prepareMonitor(execution: Execution, keep: boolean): MonitorPreparation {
  // Hooks after the end are for `runt delete`, and so are a cgroup that stays or is systemd's, a directory in the state's, and mounts in the
  // caller's mount namespace.
  const { record, hasDirectory } = execution.made;
  const { hooks, cgroup, rootMount } = record;
  const isUnusual = keep || hasDirectory || rootMount || hooks?.poststop.length || cgroup?.kept?.length || cgroup?.systemd;
  return { self: host.open("/proc/self/exe", host.O.RDONLY), cleanup: isUnusual ? [] : cleanupArguments(execution) };
}

/** What the monitor may do itself when nothing unusual is left; anything else is left to `runt delete`. */
function cleanupArguments({ asked: { root, plan }, made: { record } }: Execution): string[] {
  const directory = containerDirectory(root, record.id);
  const removals = (record.cgroup ? allDirectories(record.cgroup) : []).flatMap((path) => [
    MONITOR_STEP.rmdir,
    path,
    ...markedParents(path).flatMap((parent) => [MONITOR_STEP.tryRmdir, parent]),
  ]);
  const filters = plan.ops.flatMap((step) =>
    step.op === "seccomp.prepare" ? [MONITOR_STEP.unlink, step.args.path.slice(directory.length + 1)] : [],
  );
  return [...removals, ...filters, MONITOR_STEP.unlink, "config.json", MONITOR_STEP.unlink, "state.json", MONITOR_STEP.rmdir, directory];
}
