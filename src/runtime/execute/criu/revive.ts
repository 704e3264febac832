/** restore: criu makes the processes, and operations of the plan make their surroundings. */
import { type MountLine, parseMountinfo } from "../../../shared/linux/index.ts";
import type { OpName } from "../../../shared/protocol/index.ts";
import { allDirectories, writeCgroupFile } from "../../cgroup/index.ts";
import type { ContainerConfig } from "../../config/index.ts";
import {
  type CriuOptions,
  converse,
  encodeRequest,
  type JoinedNamespace,
  REQUEST,
  requireReadableNames,
  restoreRoots,
} from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { raiseLoopback } from "../../network/index.ts";
import { writeRecord } from "../../state/index.ts";
import { runOperations } from "../execute.ts";
import type { Execution, Running } from "../execution.ts";
import { bringIntoCgroups, membershipsOf } from "./cgroups.ts";
import { externalSources } from "./external-sources.ts";
import { NETWORK, namespaceIdentity } from "./image.ts";
import {
  type CriuFlags,
  closeDirectories,
  commonOptions,
  criuFailure,
  EXTERNAL_NAMESPACES,
  openDirectories,
  REJOINED_NAMESPACES,
} from "./options.ts";
import { protectRoot, readonlyMountpoints, requireReadonly } from "./readonly-mounts.ts";
import { prepareMountpoints } from "./restore-mounts.ts";
import { type RestoredStreams, restoredStreams } from "./restored-streams.ts";

export interface RestoreFlags extends CriuFlags {
  /** TYPE:NAME */
  readonly lsmProfile?: string;
  readonly lsmMountContext?: string;
}

const OUTPUT = { log: "restore.log", statistics: "stats-restore" };
/** The operations of the plan that are carried out; everything else comes from the image. */
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

export interface Revival {
  readonly criu: string;
  readonly flags: RestoreFlags;
  /** Unix stream socket that receives the terminal. */
  readonly consoleSocket: string | undefined;
}

/** On return the container runs. @throws RuntError */
export function revive(execution: Execution, config: ContainerConfig, revival: Revival): void {
  const streams = restoredStreams(revival.flags.imagePath);
  execution.made.warnings.push(...streams.warnings);
  execution.made.demanded.push(...streams.warnings);
  runOperations(execution, BEFORE);
  const { plan } = execution.asked;
  const table = parseMountinfo(host.readFile("/proc/self/mountinfo", undefined, true));
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
      inherit: [...streams.inherit, ...joined.inherited],
      streams,
      joinNamespaces: joined.rejoined,
    });
    for (const { fd } of [...streams.inherit, ...joined.inherited]) if (fd > 2) host.close(fd);
  } finally {
    leave();
  }
  runOperations(execution, AFTER);
}

type Around = Pick<CriuOptions, "root" | "externalMounts"> &
  Required<Pick<CriuOptions, "inherit" | "joinNamespaces">> & {
    readonly streams: RestoredStreams;
    /** Mount points. */
    readonly readonly: ReadonlySet<string>;
  };

/** `leave` brings this process back to the host's mounts as soon as criu is where it shall be. */
function talk(
  execution: Execution,
  config: ContainerConfig,
  { criu, flags, consoleSocket }: Revival,
  leave: () => void,
  { readonly, streams, ...around }: Around,
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
        bringIntoCgroups(pid, execution.made.record.cgroup);
        if (hasOwn(pid, "mnt")) {
          protectRoot(pid, readonly);
          requireReadonly(pid, readonly);
        }
        commit(execution, pid, streams);
      }
      if (script === "orphan-pts-master") takeTerminal(execution.running, consoleSocket, fds);
    },
  });
  closeDirectories(directories);
  if (!answer.success) throw criuFailure("RESTORE", flags, OUTPUT.log, answer);
  if (execution.running.pid === 0) throw new RuntError("criu", "criu has restored no process");
}

/** Moves criu into the cgroups of the container, in which the processes that it restores begin. */
function placeCriu(execution: Execution, pid: number): void {
  about(execution, pid, () => {
    runOperations(execution, CGROUPS);
    const { cgroup } = execution.made.record;
    for (const path of cgroup ? allDirectories(cgroup) : []) writeCgroupFile(`${path}/cgroup.procs`, String(pid));
  });
}

/** Operations on a process that criu has to end when they fail: it is not the container's yet. */
function about({ running }: Execution, pid: number, act: () => void): void {
  running.pid = pid;
  try {
    act();
  } finally {
    running.pid = 0;
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
function commit({ asked: { root }, made, running }: Execution, pid: number, { names }: RestoredStreams): void {
  running.pid = pid;
  const started = host.procStat(pid);
  if (!started) throw new RuntError("criu", "the restored process has gone");
  const { record, warnings } = made;
  const { exec } = record;
  made.record = {
    ...record,
    // criu makes one whatever the bundle says: the clocks of the image go on in it. exec joins it.
    ...(hasOwn(pid, "time") && { exec: { ...exec, namespaces: [...new Set([...exec.namespaces, "time"])] } }),
    ...(exec.process?.["terminal"] !== true && { streams: names }),
    phase: "created",
    pid,
    startTime: String(started.startTime),
    warnings: [...record.warnings, ...warnings],
  };
  writeRecord(root, made.record);
}

/** The master side of a terminal whose slave the container has. */
function takeTerminal(running: Running, consoleSocket: string | undefined, fds: readonly number[]): void {
  const [master, ...others] = fds;
  for (const fd of others) host.close(fd);
  if (master === undefined) throw new RuntError("criu", "criu sent no terminal");
  if (consoleSocket !== undefined) host.sendDescriptor(consoleSocket, "/dev/ptmx", master);
  if (consoleSocket === undefined && running.console === -1) running.console = master;
  else host.close(master);
}

interface Joined {
  readonly inherited: readonly { readonly key: string; readonly fd: number }[];
  readonly rejoined: readonly JoinedNamespace[];
}

/**
 * What a restore finds around the container: namespaces that it joins, and a root that is a mount
 * point.
 */
function joinedNamespaces({ namespaces }: ContainerConfig): Joined {
  const named = namespaces.flatMap(({ type, path }) => (path === undefined ? [] : [{ type, path }]));
  return {
    inherited: named.flatMap(({ type, path }) => {
      const key = EXTERNAL_NAMESPACES[type];
      return key === undefined ? [] : [{ key, fd: host.open(path, host.O.RDONLY | host.O.NONBLOCK | host.O.NOCTTY) }];
    }),
    rejoined: named.filter(({ type }) => REJOINED_NAMESPACES.has(type)),
  };
}

/**
 * The dump has locked the network namespace, and the end of the restore unlocks it. criu locks an "empty" one itself before: twice locked, one
 * that was joined and is still the same would stay locked for ever.
 */
function networkLockedBy({ imagePath }: CriuFlags, { namespaces }: ContainerConfig): { readonly emptyNamespaces?: number } {
  const path = namespaces.find(({ type }) => type === "network")?.path;
  const file = `${imagePath}/${NETWORK}`;
  if (path === undefined || !host.stat(file)) return {};
  return host.readFile(file) === namespaceIdentity(path) ? { emptyNamespaces: 0 } : {};
}

/**
 * criu wants the root to be a mount point. Where it is none, it becomes one in a mount namespace that ends with criu: a crash leaves nothing
 * on the host. Returns the way back.
 */
function goWhereRootIsMounted(rootfs: string, table: readonly MountLine[]): () => void {
  let former = table.some(({ point }) => point === rootfs) ? undefined : host.enterOwnMounts(rootfs);
  return () => {
    if (former !== undefined) host.leaveOwnMounts(former);
    former = undefined;
  };
}
