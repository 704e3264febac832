/** run: create and start in one; in the foreground this process becomes the helper's monitor. */
import { markedParents } from "../cgroup/index.ts";
import * as host from "../host/index.ts";
import { containerDirectory } from "../state/index.ts";
import { create } from "./create.ts";
import type { Execution } from "./execute.ts";
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
    create(options, request);
    return;
  }
  if (subreaper) host.setChildSubreaper(true);
  // From here on a signal is for the container: the monitor picks up what arrives meanwhile.
  host.blockSignals();
  const execution = create(options, request);
  const pidfd = host.pidfdOpen(execution.pid);
  const self = host.open("/proc/self/exe", host.O.RDONLY);
  const fds = [pidfd, self, ...(execution.console === -1 ? [] : [execution.console])];
  // Hooks after the end are for `runt delete`, and so is a cgroup that stays or is systemd's.
  const { hooks, cgroup } = execution.record;
  const cleanup =
    keep || hooks?.poststop.length || cgroup?.kept?.length || cgroup?.systemd ? [] : cleanupArguments(options.root, execution);
  host.execHelper(
    [
      "monitor",
      String(execution.pid),
      String(pidfd),
      String(execution.console),
      "-1",
      String(self),
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
  return [...removals, ...filters, "--unlink", `${directory}/state.json`, "--rmdir", directory];
}
