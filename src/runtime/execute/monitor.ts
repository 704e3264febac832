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
  const { root } = execution.asked;
  const { lock, record } = execution.made;
  const { pid, console, monitor, notification: sockets } = execution.running;
  const pidfd = pidfdOf(pid);
  const { self, cleanup } = monitor ?? prepareMonitor(execution, keep);
  const fds = [
    lock,
    ...(pidfd === REFUSED ? [] : [pidfd]),
    self,
    ...(console === -1 ? [] : [console]),
    ...(sockets ? [sockets.container, sockets.host] : []),
    ...(exitRecord?.fds ?? []),
  ];
  host.execHelper(
    monitorArguments(
      {
        init: pid,
        pidfd,
        console,
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
