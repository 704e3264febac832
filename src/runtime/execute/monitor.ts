/** In the foreground this process becomes the helper's monitor, which watches over the container and removes it at its end. */
import { type MonitorArguments, monitorArguments } from "../../shared/protocol/index.ts";
import * as host from "../host/index.ts";
import { phase } from "../host/index.ts";
import { containerDirectory } from "../state/index.ts";
import type { Execution } from "./execution.ts";
import { prepareMonitor } from "./monitor-preparation.ts";
import { pidfdOf, REFUSED } from "./pidfd.ts";

export interface MonitorOptions {
  /** Keep state and cgroup after a foreground container ended. */
  readonly keep: boolean;
  /** Command line of `runt` that deletes a container, argv[0] first, without the id. */
  readonly deleteCommand: readonly string[];
}

/** What the monitor is told about an exit record (exit-record.ts). */
export interface MonitorRecord {
  readonly options: MonitorArguments;
  readonly fds: readonly number[];
}

/** Does not return. */
export function becomeMonitor(execution: Execution, { keep, deleteCommand }: MonitorOptions, exitRecord?: MonitorRecord): void {
  phase?.("monitor", "execute");
  const pidfd = pidfdOf(execution.pid);
  const { self, cleanup } = execution.monitor ?? prepareMonitor(execution, keep);
  const { lock, notification: sockets, record, root } = execution;
  const fds = [
    lock,
    ...(pidfd === REFUSED ? [] : [pidfd]),
    self,
    ...(execution.console === -1 ? [] : [execution.console]),
    ...(sockets ? [sockets.container, sockets.host] : []),
    ...(exitRecord?.fds ?? []),
  ];
  host.execHelper(
    monitorArguments(
      {
        init: execution.pid,
        pidfd,
        console: execution.console,
        executable: self,
        state: lock,
        "state-path": containerDirectory(root, record.id),
        ...(sockets && { notify: sockets.container, "notify-host": sockets.host }),
        ...exitRecord?.options,
      },
      cleanup,
      keep ? [] : [...deleteCommand, "--state-fd", String(lock), record.id],
    ),
    fds,
  );
}
