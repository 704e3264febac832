/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { markedParents, memoryPressure } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { loadedNow } from "../host/lazy.ts";
import { phase } from "../host/tracing.ts";
import { containerDirectory } from "../state/index.ts";
import { create } from "./create.ts";
import { separateDescriptors } from "./descriptors.ts";
import type { Execution } from "./execute.ts";
import { notification } from "./on-demand.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";
import { pidfdOf, REFUSED } from "./pidfd.ts";

export interface RunOptions {
  /** Keep state and cgroup after a foreground container ended. */
  readonly keep: boolean;
  readonly subreaper: boolean;
  /** The file that says how a detached container ended. */
  readonly exitRecord?: string;
  /** Command line of `runt` that deletes the container, argv[0] first. */
  readonly deleteCommand: readonly string[];
}

/** Returns for a detached container; in the foreground it never does. */
export function run(options: RuntimeOptions, request: CreateOptions, runOptions: RunOptions): void {
  const { keep, subreaper, deleteCommand, exitRecord } = runOptions;
  if (exitRecord !== undefined) {
    const { runRecorded } = loadedNow(import("./exit-record.ts"));
    runRecorded(options, request, exitRecord, runOptions, { separateDescriptors, create, becomeMonitor, memoryPressure });
  }
  if (request.detach) {
    const { notification: sockets, pid } = create(options, request);
    if (sockets) notification().waitUntilReady(sockets, pid, host.pidfdOpen(pid));
    return;
  }
  if (subreaper) host.setChildSubreaper(true);
  // From here on a signal is for the container: the monitor picks up what arrives meanwhile.
  host.blockSignals();
  becomeMonitor(options, create(options, request), { keep, deleteCommand });
}

/** What the monitor is told about an exit record (exit-record.ts). */
export interface MonitorRecord {
  readonly args: readonly string[];
  readonly fds: readonly number[];
}

/** Give this process to the helper that watches over the container. Does not return. */
export function becomeMonitor(
  { root }: RuntimeOptions,
  execution: Execution,
  { keep, deleteCommand }: Pick<RunOptions, "keep" | "deleteCommand">,
  exitRecord?: MonitorRecord,
): void {
  phase?.("monitor");
  const pidfd = pidfdOf(execution.pid);
  const self = host.open("/proc/self/exe", host.O.RDONLY);
  const sockets = execution.notification;
  const fds = [
    ...(pidfd === REFUSED ? [] : [pidfd]),
    self,
    ...(execution.console === -1 ? [] : [execution.console]),
    ...(sockets ? [sockets.container, sockets.host] : []),
    ...(exitRecord?.fds ?? []),
  ];
  // Hooks after the end are for `runt delete`, and so is a cgroup that stays or is systemd's, and a directory in the state's.
  const { hooks, cgroup } = execution.record;
  const cleanup =
    keep || sockets || hooks?.poststop.length || cgroup?.kept?.length || cgroup?.systemd ? [] : cleanupArguments(root, execution);
  host.execHelper(
    [
      "monitor",
      String(execution.pid),
      String(pidfd),
      String(execution.console),
      "-1",
      String(self),
      ...(sockets ? ["--notify", String(sockets.container), "--notify-host", String(sockets.host)] : []),
      ...(exitRecord?.args ?? []),
      ...cleanup,
      "--",
      ...(keep ? [] : deleteCommand),
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
  const filters = plan.ops.flatMap((step) => (step.op === "seccomp.prepare" ? ["--unlink", step.args.path] : []));
  return [...removals, ...filters, "--unlink", `${directory}/config.json`, "--unlink", `${directory}/state.json`, "--rmdir", directory];
}
