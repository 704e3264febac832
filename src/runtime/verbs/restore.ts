/** restore: a container from the files of a checkpoint, by criu (docs/decisions/0021-checkpoint.md). */
import { refuseUsed } from "../cgroup/index.ts";
import type { ContainerConfig } from "../config/index.ts";
import { requireCriu, requireFeatures } from "../criu/index.ts";
import { RuntError } from "../errors/index.ts";
import {
  becomeMonitor,
  type Execution,
  execRecord,
  intentRecord,
  interruption,
  type MonitorOptions,
  newExecution,
  type RestoreFlags,
  refuseIdMapped,
  refuseJoined,
  revive,
  undo,
} from "../execute/index.ts";
import * as host from "../host/index.ts";
import { separateDescriptors } from "../host/index.ts";
import { type CreateOptions, checkTerminal, compileBundle, type RuntimeOptions } from "../prepare/index.ts";
import { refuseExisting } from "../state/index.ts";

/** The first with --lsm-profile and --lsm-mount-context. */
const WITH_LABELS = [3, 16, 0] as const;

/** How the container is watched over, in the foreground. */
export interface RestoreOptions extends MonitorOptions {
  readonly subreaper: boolean;
  /** Called when the container is made. */
  readonly made: (execution: Execution) => void;
}

/** Returns for a detached container; in the foreground it never does. @throws RuntError; then nothing is left */
export function restore(options: RuntimeOptions, request: CreateOptions, flags: RestoreFlags, run: RestoreOptions): void {
  separateDescriptors(0);
  const compiled = compileBundle(options, request);
  checkTerminal(compiled.config, request);
  refuse(compiled.config);
  const labelled = flags.lsmProfile !== undefined || flags.lsmMountContext !== undefined;
  const criu = requireCriu(flags.criu, labelled ? WITH_LABELS : undefined);
  requireFeatures(criu, { trackMemory: false, lazyPages: flags.lazyPages });
  refuseExisting(options.root, request.id);
  if (!request.detach && run.subreaper) host.setChildSubreaper(true);
  const before = compiled.cgroup ? refuseUsed(compiled.cgroup) : {};
  const execution = newExecution(
    { root: options.root, plan: compiled.plan },
    {
      ...intentRecord({ ...compiled, id: request.id, bundle: request.bundle }, before),
      exec: execRecord(compiled.config, !request.noNewKeyring),
    },
  );
  try {
    revive(execution, compiled.config, { criu, flags, consoleSocket: request.consoleSocket });
  } catch (error) {
    undo(execution);
    throw interruption(error) ?? error;
  }
  run.made(execution);
  if (!request.detach) becomeMonitor(execution, run);
}

function refuse({ namespaces, mounts, netDevices }: ContainerConfig): void {
  if (host.geteuid() !== 0) throw new RuntError("criu", "restore needs root: criu cannot restore for other users");
  refuseJoined(namespaces.filter(({ path }) => path !== undefined).map(({ type }) => type));
  refuseIdMapped(mounts.flatMap((mount) => ("idmap" in mount && mount.idmap ? [mount.target] : [])));
  if (netDevices.length > 0) {
    throw new RuntError("not-supported", "linux.netDevices: a restored container gets no network devices", {
      pointer: "/linux/netDevices",
    });
  }
}
