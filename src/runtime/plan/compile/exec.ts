/**
 * A further process in a running container -> Plan. The same operations as for the first one, but every namespace is entered
 * and nothing is made. Pure.
 */

import { CLONE_NEW, SIGNALS } from "../../../shared/linux/index.ts";
import { MESSAGES, NO_SLOT, type OpArgs, PLAN_VERSION, SLOT } from "../../../shared/protocol/index.ts";
import type { ContainerConfig, MemoryPolicy, NamespaceType, ProcessConfig, SeccompFilter } from "../../config/index.ts";
import type { CgroupJoin, CompileHost, GroupPlace, Invocation, UnitJoin } from "../input.ts";
import type { Plan } from "../plan.ts";
import { type Builder, createBuilder } from "./builder.ts";
import { addResctrlJoin } from "./cgroups.ts";
import { addPidfd } from "./commit.ts";
import { addKeyring } from "./labels.ts";
import { addExecve, addProcess, addRlimits } from "./process.ts";
import { BARE_CONFIG, createScope, type Scope } from "./scope.ts";
import { addFilterHandOver } from "./seccomp.ts";

export interface ExecInput {
  readonly process: ProcessConfig;
  /** The container's init; its start time (clock ticks) guards against a reused pid. */
  readonly target: { readonly pid: number; readonly startTime: bigint };
  /** Those that the container's configuration names, new and joined. */
  readonly namespaces: readonly NamespaceType[];
  /** "/", or the root filesystem's path in a container without a mount namespace of its own. */
  readonly root: string;
  /** attach: through systemd, where the caller may not move processes itself. */
  readonly join?: Exclude<CgroupJoin, UnitJoin> | { readonly attach: OpArgs<"systemd.attach"> };
  /** Join the container's session keyring. */
  readonly keyring: boolean;
  /** The container's filter, compiled when it was made. */
  readonly seccomp?: SeccompFilter;
  /** linux.memoryPolicy and linux.personality of the container. */
  readonly memoryPolicy?: MemoryPolicy;
  readonly personality?: number;
  /** The container's resctrl groups. */
  readonly resctrl?: GroupPlace;
  readonly invocation: Pick<Invocation, "id" | "consoleSocket" | "pidFile" | "pidfdSocket" | "preserveFds" | "listenFds">;
  readonly host: Pick<CompileHost, "stateDirectory" | "rootless" | "cgroupVersion" | "terminalSize" | "apparmor" | "setgroups">;
}

export function compileExec(input: ExecInput): Plan {
  const builder = createBuilder();
  const invocation: Invocation = { ...input.invocation, mode: "run", noPivot: false, noNewKeyring: !input.keyring };
  const scope = createScope({ config: configOf(input), invocation, host: { ...input.host, cgroupSources: [] } }, builder);
  addEntry(scope, input);
  addRoot(scope, input.root);
  addConsole(scope);
  addProcess(scope);
  addStart(scope, input);
  return { version: PLAN_VERSION, id: invocation.id, slots: builder.slots, ops: builder.ops };
}

/** What the shared compile steps look at. Every namespace counts as joined. */
function configOf({ process, namespaces, seccomp, memoryPolicy, personality }: ExecInput): ContainerConfig {
  return {
    ...BARE_CONFIG,
    process,
    ...(seccomp && { seccomp }),
    ...(memoryPolicy && { memoryPolicy }),
    ...(personality !== undefined && { personality }),
    namespaces: namespaces.map((type) => ({ type, path: "", from: "" })),
  };
}

/** The intermediate opens what only the host has, enters everything at once, and clones into the PID namespace. */
function addEntry(scope: Scope, { target, namespaces, join, process, resctrl }: ExecInput): void {
  const { builder, invocation } = scope;
  const { initial, final } = process.execAffinity ?? { initial: [], final: [] };
  const place = joinPlace(join, initial.length > 0);
  builder.add("runtime", "spawn", "helper.spawn", { cgroup: place.spawn });
  builder.add("intermediate", "namespaces", "proc.open", {});
  if (invocation.consoleSocket !== undefined) {
    builder.add("intermediate", "namespaces", "console.connect", { path: invocation.consoleSocket }, "/process/terminal");
  }
  if (process.oomScoreAdj !== undefined) {
    builder.add("intermediate", "namespaces", "process.oomScoreAdj", { value: BigInt(process.oomScoreAdj) }, "/process/oomScoreAdj");
  }
  if (initial.length > 0)
    builder.add("intermediate", "namespaces", "process.affinity", { cpus: initial }, "/process/execCPUAffinity/initial");
  const slot = builder.slot(place.files.length);
  if (place.files.length > 0) builder.add("intermediate", "namespaces", "cgroup.open", { files: place.files, slot });
  if (place.joiner === "intermediate") builder.add("intermediate", "namespaces", "cgroup.join", { slot, count: place.files.length });
  const flags = namespaces.reduce((sum, type) => sum | CLONE_NEW[type], 0);
  builder.add("intermediate", "namespaces", "namespace.enter", { pid: target.pid, startTime: target.startTime, flags });
  builder.add("intermediate", "namespaces", "process.clone", { flags: 0, cgroup: NO_SLOT });
  builder.add("runtime", "namespaces", "sync.wait", { message: MESSAGES.pid });
  if (resctrl) addResctrlJoin(scope, resctrl);
  builder.add("init", "namespaces", "process.deathSignal", { signal: SIGNALS.KILL });
  if (place.joiner === "init") builder.add("init", "namespaces", "cgroup.join", { slot, count: place.files.length });
  if (join && "attach" in join) addAttach(builder, join.attach);
  if (final.length > 0) builder.add("init", "namespaces", "process.affinity", { cpus: final }, "/process/execCPUAffinity/final");
  if (scope.inUserNamespace) builder.add("init", "namespaces", "process.becomeRoot", { keepGroups: process.keepGroups === true });
  builder.add("init", "namespaces", "session.create", {});
  addKeyring(scope);
}

interface JoinPlace {
  /** Directory that the helper is started in. */
  readonly spawn: string;
  /** Files by which the process joins instead, and which process writes to them. */
  readonly files: readonly string[];
  readonly joiner?: "intermediate" | "init";
}

/** v2: the helper is started in the cgroup, but not before it has its initial CPUs. (The v2 hierarchy of a hybrid host has no cpusets.) */
function joinPlace(join: ExecInput["join"], hasInitialCpus: boolean): JoinPlace {
  if (!join || "attach" in join) return { spawn: "", files: [] };
  if ("tasks" in join) {
    const { tasks, directory: spawn = "" } = join;
    return tasks.length === 0 ? { spawn, files: [] } : { spawn, files: tasks, joiner: "init" };
  }
  return hasInitialCpus
    ? { spawn: "", files: [`${join.directory}/cgroup.procs`], joiner: "intermediate" }
    : { spawn: join.directory, files: [] };
}

function addAttach(builder: Builder, args: OpArgs<"systemd.attach">): void {
  builder.add("runtime", "namespaces", "systemd.attach", args);
  builder.add("runtime", "namespaces", "sync.send", { message: MESSAGES.cgroup });
  builder.add("init", "namespaces", "sync.wait", { message: MESSAGES.cgroup });
}

function addRoot({ builder }: Scope, root: string): void {
  builder.add("init", "rootfs", "root.current", { path: root });
  if (root !== "/") builder.add("init", "rootfs", "root.enter", {});
}

function addConsole({ builder, config, host, invocation }: Scope): void {
  const { process } = config;
  if (!process?.terminal) return;
  const own = invocation.consoleSocket === undefined;
  const rows = host.terminalSize?.rows ?? process.consoleRows;
  const columns = host.terminalSize?.columns ?? process.consoleColumns;
  const slot = own ? NO_SLOT : SLOT.CONSOLE;
  builder.add("init", "devices", "console.open", { slot, rows, columns, uid: process.uid, bindConsole: false }, "/process/terminal");
  if (own) builder.add("runtime", "devices", "sync.wait", { message: MESSAGES.console }, "/process/terminal");
}

/** No state is written, so init waits only for what the runtime does to it: limits, resctrl. The pid file tells of a program that runs. */
function addStart(scope: Scope, { resctrl }: ExecInput): void {
  const { builder, config, invocation, inUserNamespace } = scope;
  addFilterHandOver(scope);
  const setsLimits = inUserNamespace && (config.process?.rlimits.length ?? 0) > 0;
  if (setsLimits || resctrl) {
    builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
    builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.ready });
    if (setsLimits) addRlimits(scope, "runtime");
    builder.add("runtime", "commit", "sync.send", { message: MESSAGES.commit });
    builder.add("init", "commit", "sync.wait", { message: MESSAGES.commit });
  }
  builder.add("init", "commit", "process.deathSignal", { signal: 0 });
  addExecve(scope, false);
  addPidfd(builder, invocation, "setns");
  builder.add("runtime", "commit", "sync.end", {});
  if (invocation.pidFile !== undefined) builder.add("runtime", "commit", "pidfile.write", { path: invocation.pidFile });
}
