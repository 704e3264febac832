/** restore: a container from the files of a checkpoint, by criu (docs/decisions/0021-checkpoint.md). */

import type { OpName } from "../../shared/protocol/index.ts";
import { refuseUsed, writeCgroupFile } from "../cgroup/index.ts";
import type { ContainerConfig } from "../config/types.ts";
import {
  type CriuOptions,
  converse,
  encodeRequest,
  inheritedStreams,
  type JoinedNamespace,
  type Mount,
  parseMounts,
  REQUEST,
  requireCriu,
  requireFeatures,
  requireReadableNames,
  restoreRoots,
} from "../criu/index.ts";
import { RuntError } from "../errors/index.ts";
import { newExecution, runOperations } from "../execute/execute.ts";
import type { Execution } from "../execute/execution.ts";
import { interruption } from "../execute/interrupted.ts";
import { undo } from "../execute/rollback.ts";
import { callerStreams } from "../execute/streams.ts";
import { separateDescriptors } from "../host/descriptors.ts";
import * as host from "../host/index.ts";
import { raiseLoopback } from "../network/index.ts";
import { type Compiled, compileBundle } from "../prepare/compile.ts";
import { execRecord } from "../prepare/exec-defaults.ts";
import type { CreateOptions, RuntimeOptions } from "../prepare/options.ts";
import { checkTerminal } from "../prepare/terminal.ts";
import { refuseExisting, writeRecord } from "../state/index.ts";
import { DESCRIPTORS, NETWORK, namespaceIdentity } from "./checkpoint.ts";
import { intentRecord } from "./create.ts";
import { bringIntoCgroups, membershipsOf } from "./criu/cgroups.ts";
import { externalSources } from "./criu/external-sources.ts";
import {
  type CriuFlags,
  closeDirectories,
  commonOptions,
  criuFailure,
  EXTERNAL_NAMESPACES,
  openDirectories,
  REJOINED_NAMESPACES,
  refuseIdMapped,
  refuseJoined,
} from "./criu/options.ts";
import { readonlyMountpoints, requireReadonly } from "./criu/readonly-mounts.ts";
import { prepareMountpoints } from "./criu/restore-mounts.ts";
import { becomeMonitor } from "./run.ts";
import type { RunOptions } from "./run-options.ts";

export interface RestoreFlags extends CriuFlags {
  /** TYPE:NAME */
  readonly lsmProfile?: string;
  readonly lsmMountContext?: string;
}

const OUTPUT = { log: "restore.log", statistics: "stats-restore" };
/** The first with --lsm-profile and --lsm-mount-context. */
const WITH_LABELS = [3, 16, 0] as const;
/** Operations of the plan that make what is around the processes; everything else comes out of the image. */
const BEFORE: ReadonlySet<OpName> = new Set<OpName>(["state.intent", "seccomp.prepare", "notify.prepare"]);
const CGROUPS: ReadonlySet<OpName> = new Set<OpName>([
  "systemd.startUnit",
  "systemd.attach",
  "cgroup.create",
  "cgroup.write",
  "cgroup.devices",
  "cgroup.delegate",
  "cgroup.attach",
  "resctrl.prepare",
  "resctrl.monitor",
  "resctrl.join",
]);
const HOOKS: ReadonlySet<OpName> = new Set<OpName>(["hook.run"]);
const AFTER: ReadonlySet<OpName> = new Set<OpName>(["pidfile.write", "pidfd.send"]);

/** Returns for a detached container; in the foreground it never does. @throws RuntError; then nothing is left */
export function restore(options: RuntimeOptions, request: CreateOptions, flags: RestoreFlags, run: RunOptions): void {
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
  const execution = newExecution(options.root, compiled.plan, {
    ...intentRecord(compiled, request, before),
    exec: execRecord(compiled.config, !request.noNewKeyring),
  });
  try {
    revive(execution, compiled, { criu, flags, request });
  } catch (error) {
    undo(execution);
    throw interruption(error) ?? error;
  }
  if (!request.detach) becomeMonitor(options, execution, run);
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

interface Revival {
  readonly criu: string;
  readonly flags: RestoreFlags;
  readonly request: CreateOptions;
}

function revive(execution: Execution, { config }: Compiled, revival: Revival): void {
  const streams = readStreams(revival.flags.imagePath);
  runOperations(execution, BEFORE);
  const { plan } = execution;
  const table = parseMounts(host.readFile("/proc/self/mountinfo", undefined, true));
  const around = { table, places: prepareMountpoints(config) };
  const externalMounts = requireReadableNames(externalSources(plan, config, around));
  const readonly = readonlyMountpoints(plan, around);
  const root = host.realpath(config.rootfs);
  const leave = goWhereRootIsMounted(root, table);
  try {
    const joined = joinedNamespaces(config);
    talk(execution, config, revival, leave, {
      root,
      externalMounts,
      readonly,
      inherit: [...streams, ...joined.inherited],
      joinNamespaces: joined.rejoined,
    });
    for (const { fd } of joined.inherited) host.close(fd);
  } finally {
    leave();
  }
  runOperations(execution, AFTER);
}

type Around = Pick<CriuOptions, "root" | "externalMounts"> &
  Required<Pick<CriuOptions, "inherit" | "joinNamespaces">> & {
    /** Mount points. */
    readonly readonly: ReadonlySet<string>;
  };

/** `leave` brings this process back to the host's mounts as soon as criu is where it shall be. */
function talk(
  execution: Execution,
  config: ContainerConfig,
  { criu, flags, request }: Revival,
  leave: () => void,
  { readonly, ...around }: Around,
): void {
  const directories = openDirectories(flags, OUTPUT);
  const { lsmProfile, lsmMountContext } = flags;
  const options: CriuOptions = {
    ...commonOptions({ flags, directories, root: around.root }, config.annotations),
    ...around,
    ...networkLockedBy(flags, config),
    sibling: true,
    ...(lsmProfile !== undefined && { lsmProfile }),
    ...(lsmMountContext !== undefined && { lsmMountContext }),
  };
  const answer = converse(criu, {
    inherit: around.inherit.map(({ fd }) => fd),
    request: (pid) => {
      leave();
      placeCriu(execution, pid);
      return encodeRequest(REQUEST.restore, {
        ...options,
        ...(flags.cgroupMode !== "ignore" && { cgroupRoots: restoreRoots(membershipsOf(pid)) }),
      });
    },
    notified: (script, pid, fds) => {
      if (script === "setup-namespaces") prepareNamespaces(execution, config, pid);
      if (script === "post-restore") {
        bringIntoCgroups(pid, execution.record.cgroup);
        if (hasOwn(pid, "mnt")) requireReadonly(pid, readonly);
        commit(execution, pid);
      }
      if (script === "orphan-pts-master") takeTerminal(execution, request, fds);
    },
  });
  closeDirectories(directories);
  if (!answer.success) throw criuFailure("RESTORE", flags, OUTPUT.log, answer);
  if (execution.pid === 0) throw new RuntError("criu", "criu has restored no process");
}

/**
 * The dump has locked the network namespace, and the end of the restore unlocks it. criu locks an "empty" one itself before: twice locked, one
 * that was joined and is still the same would stay locked for ever.
 */
function networkLockedBy({ imagePath }: RestoreFlags, { namespaces }: ContainerConfig): { readonly emptyNamespaces?: number } {
  const path = namespaces.find(({ type }) => type === "network")?.path;
  const file = `${imagePath}/${NETWORK}`;
  if (path === undefined || !host.stat(file)) return {};
  return host.readFile(file) === namespaceIdentity(path) ? { emptyNamespaces: 0 } : {};
}

/** What is restored starts where criu is. */
function placeCriu(execution: Execution, pid: number): void {
  about(execution, pid, () => {
    runOperations(execution, CGROUPS);
    for (const path of execution.record.cgroup?.paths ?? []) writeCgroupFile(`${path}/cgroup.procs`, String(pid));
  });
}

/** Operations on a process that criu has to end when they fail: it is not the container's yet. */
function about(execution: Execution, pid: number, act: () => void): void {
  execution.pid = pid;
  try {
    act();
  } finally {
    execution.pid = 0;
  }
}

/** The container's processes are there, but nothing in its namespaces yet: the place of the hooks that prepare them. */
function prepareNamespaces(execution: Execution, config: ContainerConfig, pid: number): void {
  about(execution, pid, () => {
    if (config.namespaces.some(({ type, path }) => type === "network" && path === undefined)) raiseLoopback(`/proc/${pid}/ns/net`);
    runOperations(execution, HOOKS, (args) => "kind" in args && (args.kind === "prestart" || args.kind === "createRuntime"));
  });
}

/** Whether a process is in another namespace than this one. `file`: as in /proc/PID/ns. */
function hasOwn(pid: number, file: string): boolean {
  return namespaceIdentity(`/proc/${pid}/ns/${file}`) !== namespaceIdentity(`/proc/self/ns/${file}`);
}

/** The processes stand still until criu has the answer to this: the record is there before they run. */
function commit(execution: Execution, pid: number): void {
  execution.pid = pid;
  const started = host.procStat(pid);
  if (!started) throw new RuntError("criu", "the restored process has gone");
  const { record, warnings, root } = execution;
  const { exec } = record;
  const streams = callerStreams(exec.process?.["terminal"]);
  execution.record = {
    ...record,
    // criu makes one whatever the bundle says: the clocks of the image go on in it. exec joins it.
    ...(hasOwn(pid, "time") && { exec: { ...exec, namespaces: [...new Set([...exec.namespaces, "time"])] } }),
    ...(streams && { streams }),
    phase: "created",
    pid,
    startTime: String(started.startTime),
    warnings: [...record.warnings, ...warnings],
  };
  writeRecord(root, execution.record);
}

/** The master side of a terminal whose slave the container has. */
function takeTerminal(execution: Execution, { consoleSocket }: CreateOptions, fds: readonly number[]): void {
  const [master, ...others] = fds;
  for (const fd of others) host.close(fd);
  if (master === undefined) throw new RuntError("criu", "criu sent no terminal");
  if (consoleSocket !== undefined) host.sendDescriptor(consoleSocket, "/dev/ptmx", master);
  if (consoleSocket === undefined && execution.console === -1) execution.console = master;
  else host.close(master);
}

/** Of the checkpoint's standard streams those that this process takes the place of. */
function readStreams(imagePath: string): CriuOptions["inherit"] & object {
  const path = `${imagePath}/${DESCRIPTORS}`;
  try {
    const keys: unknown = JSON.parse(host.readFile(path));
    if (!Array.isArray(keys)) throw new RuntError("criu", `${path}: not a list`);
    return inheritedStreams(keys.slice(0, 3).map(String));
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("criu", `${path}: ${error instanceof SyntaxError ? "not JSON" : host.reason(error)}`, {
      hint: "--image-path names the directory of a checkpoint",
      cause: error,
    });
  }
}

interface Joined {
  readonly inherited: readonly { readonly key: string; readonly fd: number }[];
  readonly rejoined: readonly JoinedNamespace[];
}

function joinedNamespaces({ namespaces }: ContainerConfig): Joined {
  const named = namespaces.flatMap(({ type, path }) => (path === undefined ? [] : [{ type, path }]));
  return {
    inherited: named.flatMap(({ type, path }) => {
      const key = EXTERNAL_NAMESPACES[type];
      return key === undefined ? [] : [{ key, fd: host.open(path, host.O.RDONLY) }];
    }),
    rejoined: named.filter(({ type }) => REJOINED_NAMESPACES.has(type)),
  };
}

/**
 * criu wants the root to be a mount point. Where it is none, it becomes one in a mount namespace that ends with criu: a crash leaves nothing
 * on the host. Returns the way back.
 */
function goWhereRootIsMounted(root: string, table: readonly Mount[]): () => void {
  let former = table.some(({ mountpoint }) => mountpoint === root) ? undefined : host.enterOwnMounts(root);
  return () => {
    if (former !== undefined) host.leaveOwnMounts(former);
    former = undefined;
  };
}
