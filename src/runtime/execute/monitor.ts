/** In the foreground this process becomes the helper's monitor, which watches over the container and removes it at its end. */
import { CLAIM_FILE, MONITOR_STEP, type MonitorArguments, monitorArguments, START_FIFO, TEMPLATE } from "../../shared/protocol/index.ts";
import { allDirectories, markedParents } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { phase } from "../host/index.ts";
import { containerDirectory } from "../state/index.ts";
import type { Execution, MonitorPreparation } from "./execution.ts";
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

/**
 * What the monitor of a foreground container is given: all that does not depend on the container's
 * start.
 * @param keep state and cgroup stay after the container's end
 */
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
  const claims = record.annotations[TEMPLATE] === undefined ? [] : [MONITOR_STEP.unlink, START_FIFO, MONITOR_STEP.unlink, CLAIM_FILE];
  return [
    ...removals,
    ...filters,
    ...claims,
    MONITOR_STEP.unlink,
    "config.json",
    MONITOR_STEP.unlink,
    "state.json",
    MONITOR_STEP.rmdir,
    directory,
  ];
}

const LARGEST = 0xffff;

/**
 * --console-size and --resize-fifo: the size of a terminal that is not shown in another one, at the
 * beginning and later.
 * "40x100": rows and columns, each from 1 to 65535. @throws RuntError usage
 */
export function parseSize(text: string): { readonly rows: number; readonly columns: number } {
  const [, rows = 0, columns = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(text) ?? []).map(Number);
  if (rows > 0 && columns > 0 && rows <= LARGEST && columns <= LARGEST) return { rows, columns };
  throw new RuntError("usage", `--console-size ${JSON.stringify(text)}: use ROWSxCOLUMNS, each from 1 to ${LARGEST}, as 40x100`);
}

/** --resize-fifo. @throws RuntError usage when it is none */
export function openSizes(path: string): number {
  return openFifo("--resize-fifo", path);
}

/**
 * A descriptor for the monitor: of reading and writing, so that the FIFO has no end when a writer goes. Nothing but a FIFO is opened, whatever is put
 * in its place meanwhile: a device may act when it is opened. @throws RuntError usage when it is none
 */
export function openFifo(flag: string, path: string): number {
  try {
    const found = host.open(path, host.O.PATH);
    try {
      if ((host.fstat(found).mode & host.S.IFMT) !== host.S.IFIFO) throw new RuntError("usage", `${flag} ${path}: no FIFO`);
      return host.open(`/proc/self/fd/${found}`, host.O.RDWR | host.O.NONBLOCK | host.O.NOCTTY);
    } finally {
      host.close(found);
    }
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("usage", `${flag} ${path}: ${host.reason(error)}`, { cause: error });
  }
}
