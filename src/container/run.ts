/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { markedParents } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { containerDirectory } from "../state/index.ts";
import { create } from "./create.ts";
import type { Execution } from "./execute.ts";
import { notification } from "./on-demand.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";

export interface RunOptions {
  /** Keep state and cgroup after a foreground container ended. */
  readonly keep: boolean;
  readonly subreaper: boolean;
  /** Command line of `runt` that deletes the container, argv[0] first. */
  readonly deleteCommand: readonly string[];
}

/** Returns for a detached container; in the foreground it never does. */
export function run(options: RuntimeOptions, request: CreateOptions, { keep, subreaper, deleteCommand }: RunOptions): void {
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

/** Give this process to the helper that watches over the container. Does not return. */
export function becomeMonitor(
  { root }: RuntimeOptions,
  execution: Execution,
  { keep, deleteCommand }: Omit<RunOptions, "subreaper">,
): void {
  const pidfd = host.pidfdOpen(execution.pid);
  const self = host.open("/proc/self/exe", host.O.RDONLY);
  const sockets = execution.notification;
  const fds = [
    pidfd,
    self,
    ...(execution.console === -1 ? [] : [execution.console]),
    ...(sockets ? [sockets.container, sockets.host] : []),
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
