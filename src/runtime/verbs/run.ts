/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { markedParents, memoryPressure } from "../cgroup/index.ts";
import type { Beginning } from "../execute/beginning.ts";
import type { Execution } from "../execute/execution.ts";
import { notification } from "../execute/on-demand.ts";
import { pidfdOf, REFUSED } from "../execute/pidfd.ts";
import { separateDescriptors } from "../host/descriptors.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { phase } from "../host/tracing.ts";
import type { CreateOptions, RuntimeOptions } from "../prepare/options.ts";
import { containerDirectory } from "../state/index.ts";
import { create } from "./create.ts";
import type { MonitorRecord, RunOptions } from "./run-options.ts";

/** Returns for a detached container; in the foreground it never does. */
export function run(options: RuntimeOptions, request: CreateOptions, runOptions: RunOptions, beginning?: Beginning): void {
  const { keep, subreaper, deleteCommand, exitRecord, made } = runOptions;
  if (exitRecord !== undefined) {
    const { runRecorded } = loadedNow(import("./exit-record.ts"));
    runRecorded(options, request, exitRecord, runOptions, { separateDescriptors, create, becomeMonitor, memoryPressure });
  }
  if (request.detach) {
    const execution = create(options, request, beginning);
    made?.(execution);
    const { notification: sockets, pid } = execution;
    if (sockets) {
      host.unblockSignals();
      notification().waitUntilReady(sockets, pid, host.pidfdOpen(pid));
    }
    return;
  }
  if (subreaper) host.setChildSubreaper(true);
  let prepared: Preparation | undefined;
  const execution = create(options, request, beginning, (begun) => {
    prepared = prepareMonitor(options, begun, keep);
  });
  made?.(execution);
  becomeMonitor(options, execution, { keep, deleteCommand }, undefined, prepared);
}

/** What the monitor needs and does not depend on the container's start. */
interface Preparation {
  /** This program, for `runt delete`. */
  readonly self: number;
  readonly cleanup: readonly string[];
}

function prepareMonitor({ root }: RuntimeOptions, execution: Execution, keep: boolean): Preparation {
  // Hooks after the end are for `runt delete`, and so are a cgroup that stays or is systemd's, a directory in the state's, and mounts in the
  // caller's mount namespace.
  const { hooks, cgroup, rootMount } = execution.record;
  const isUnusual = keep || execution.hasDirectory || rootMount || hooks?.poststop.length || cgroup?.kept?.length || cgroup?.systemd;
  return { self: host.open("/proc/self/exe", host.O.RDONLY), cleanup: isUnusual ? [] : cleanupArguments(root, execution) };
}

/** Give this process to the helper that watches over the container. Does not return. */
export function becomeMonitor(
  options: RuntimeOptions,
  execution: Execution,
  { keep, deleteCommand }: Pick<RunOptions, "keep" | "deleteCommand">,
  exitRecord?: MonitorRecord,
  prepared?: Preparation,
): void {
  phase?.("monitor");
  const pidfd = pidfdOf(execution.pid);
  const { self, cleanup } = prepared ?? prepareMonitor(options, execution, keep);
  const sockets = execution.notification;
  const { lock, record } = execution;
  const fds = [
    lock,
    ...(pidfd === REFUSED ? [] : [pidfd]),
    self,
    ...(execution.console === -1 ? [] : [execution.console]),
    ...(sockets ? [sockets.container, sockets.host] : []),
    ...(exitRecord?.fds ?? []),
  ];
  host.execHelper(
    [
      "monitor",
      String(execution.pid),
      String(pidfd),
      String(execution.console),
      "-1",
      String(self),
      // By it the monitor knows the container's directory from a later one of the same id.
      "--state",
      String(lock),
      containerDirectory(options.root, record.id),
      ...(sockets ? ["--notify", String(sockets.container), "--notify-host", String(sockets.host)] : []),
      ...(exitRecord?.args ?? []),
      ...cleanup,
      "--",
      ...(keep ? [] : [...deleteCommand, "--state-fd", String(lock), record.id]),
    ],
    fds,
  );
}

/** What the monitor may do itself when nothing unusual is left; anything else is left to `runt delete`. */
function cleanupArguments(root: string, { record, plan }: Execution): string[] {
  const directory = containerDirectory(root, record.id);
  const removals = (record.cgroup?.paths ?? []).flatMap((path) => [
    "--rmdir",
    path,
    ...markedParents(path).flatMap((parent) => ["--try-rmdir", parent]),
  ]);
  const filters = plan.ops.flatMap((step) =>
    step.op === "seccomp.prepare" ? ["--unlink", step.args.path.slice(directory.length + 1)] : [],
  );
  return [...removals, ...filters, "--unlink", "config.json", "--unlink", "state.json", "--rmdir", directory];
}
