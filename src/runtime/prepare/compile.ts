/** Bundle + options + host facts -> Plan: the same for create, run, plan and --dry-run. Reads, never writes. */

import { TEMPLATE } from "../../shared/protocol/index.ts";
import { belowParent, type CgroupHierarchies, type CgroupRef, cgroupDirectories, cgroupSources } from "../cgroup/index.ts";
import { type ContainerConfig, cgroup2OptionProblem, type Warning, withoutEffect } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { countListenFds, phase, reached } from "../host/index.ts";
import { type CompileHost, type CompileInput, compile, type Plan } from "../plan/index.ts";
import type { ResctrlRef } from "../resctrl/index.ts";
import { type CgroupRecord, checkId, containerDirectory } from "../state/index.ts";
import { defenceDisabled, disabled } from "../testing/index.ts";
import { loadBundle } from "./bundle.ts";
import { type HostProbe, LIVE } from "./host-probe.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";
import { type Placement, placeContainer } from "./placement.ts";

export interface Compiled {
  readonly config: ContainerConfig;
  /** config.json as it was read. */
  readonly configText: string;
  readonly plan: Plan;
  /** The container's cgroup directories (leaves); undefined when it gets none. */
  readonly cgroup?: CgroupRef & Pick<CgroupRecord, "systemd">;
  readonly resctrl?: ResctrlRef;
  readonly warnings: readonly string[];
  /** Warnings that the specification wants logged. */
  readonly demanded: readonly string[];
}

export function compileBundle(options: RuntimeOptions, create: CreateOptions, probe: HostProbe = LIVE): Compiled {
  checkId(create.id);
  const { config: asked, text } = loadBundle(create.bundle, probe, create.configFile, { ...create, root: options.root });
  reached?.("checked", asked);
  const config = placedBelow(options, create, asked);
  if (config.template ?? config.guest?.template) refuseWithTemplate(create, config);
  const facts = probe.cgroups();
  // Without a cgroup no controller has to be there.
  const placement: Partial<Placement> = options.withoutCgroup ? {} : placeContainer(options, create.id, config, facts, probe);
  const { path = "", steps, unit } = placement;
  const placed = steps === undefined || cannotHaveCgroup(options, config, probe, steps.writes.length) ? undefined : steps;
  const foreground = create.mode === "run" && !create.detach;
  const terminalSize = foreground && config.process?.terminal ? host.windowSize(0) : undefined;
  const resctrl = config.intelRdt && probe.resctrl(create.id, config.intelRdt.closId, config.intelRdt.monitoring);
  const hostFacts: CompileHost = {
    stateDirectory: containerDirectory(options.root, create.id),
    rootless: probe.caller().uid !== 0,
    ...(options.rootless && { bindDevices: true }),
    ...callerFacts(probe),
    ...(config.process?.apparmorProfile !== undefined && { apparmor: probe.apparmor() }),
    cgroupVersion: facts.version,
    cgroupSources: cgroupSources(facts, placed && !defenceDisabled("cgroup-view") ? path : ""),
    ...(terminalSize && { terminalSize }),
    ...(placed && { cgroup: placed }),
    ...(resctrl && { resctrl }),
  };
  const { id, mode, noPivot, noNewKeyring, preserveFds, consoleSocket, pidFile, pidfdSocket } = create;
  const notifySocket = config.process && (host.getenv("NOTIFY_SOCKET") || undefined);
  const mayNotify = config.namespaces.some(({ type, path }) => type === "mount" && path === undefined);
  phase?.("compile", "plan");
  const input: CompileInput = {
    config,
    host: hostFacts,
    invocation: {
      id,
      mode,
      noPivot,
      noNewKeyring,
      preserveFds,
      listenFds: countListenFds(),
      ...defined({ consoleSocket, pidFile, pidfdSocket }),
      ...(notifySocket !== undefined && mayNotify && { notifySocket }),
    },
  };
  const plan = disabled("schedule") ? compile(input, "natural") : compile(input);
  reached?.("planned", plan);
  return {
    config,
    configText: text,
    plan,
    ...(placed && { cgroup: cgroupOf(facts, path, placed.unified, unit) }),
    ...(resctrl && { resctrl }),
    demanded: config.warnings.length === 0 ? [] : config.warnings.filter(isDemanded).map(({ message }) => message),
    warnings: [
      ...config.warnings.map(({ message }) => message),
      ...(facts.version === 1 ? cgroupWords(config) : []),
      ...(steps?.warnings ?? []),
      ...(notifySocket !== undefined && !mayNotify ? ["NOTIFY_SOCKET has no effect without a mount namespace of the container's own"] : []),
      ...(options.withoutCgroup && asksForLimits(config) ? ["linux.resources has no effect without a cgroup"] : []),
    ],
  };
}

/** What only the call says. @throws RuntError not-supported */
function refuseWithTemplate({ mode }: CreateOptions, config: ContainerConfig): void {
  const what =
    mode === "run"
      ? "run, for its process is given at start: use create"
      : config.guest
        ? "isolation vm"
        : countListenFds() > 0
          ? "LISTEN_FDS: the environment is given at start"
          : host.getenv("NOTIFY_SOCKET")
            ? "NOTIFY_SOCKET: the environment is given at start"
            : undefined;
  if (what !== undefined)
    throw new RuntError("not-supported", `annotation ${TEMPLATE}: a template cannot have ${what}`, { pointer: `/annotations/${TEMPLATE}` });
}

/** v1: options of cgroup mounts that v2 would refuse. */
function cgroupWords({ mounts }: ContainerConfig): string[] {
  return mounts.flatMap((mount) => {
    const unknown =
      mount.kind === "cgroup" ? mount.data?.filter((word) => cgroup2OptionProblem(mount.target, word) !== undefined) : undefined;
    return unknown === undefined || unknown.length === 0 ? [] : [withoutEffect(mount.target, unknown)];
  });
}

/** As the state record names it. */
function cgroupOf(
  facts: CgroupHierarchies,
  path: string,
  unified: string | undefined,
  unit: Placement["unit"],
): Compiled["cgroup"] & object {
  const { version } = facts;
  return { version, paths: cgroupDirectories(facts, path), ...(unified !== undefined && { unified }), ...(unit && { systemd: unit }) };
}

/** Device rules come with nearly every configuration, and are no limits. */
function asksForLimits({ resources }: ContainerConfig): boolean {
  const { devices, ...limits } = resources;
  return Object.values(limits).some((value) => Object.keys(value).length > 0);
}

function placedBelow({ systemd }: RuntimeOptions, { id, cgroupParent }: CreateOptions, config: ContainerConfig): ContainerConfig {
  if (cgroupParent === undefined) return config;
  return { ...config, cgroupsPath: belowParent(config.cgroupsPath, id, cgroupParent, systemd ? "systemd" : "cgroupfs") };
}

function callerFacts(probe: HostProbe): Pick<CompileHost, "caller"> {
  const caller = probe.caller();
  return caller.uid === 0 ? {} : { caller: { ...caller, ...probe.idPrograms() } };
}

/** A rootless container that asks for nothing does without one where the caller may not make it. */
function cannotHaveCgroup(options: RuntimeOptions, { cgroupsPath }: ContainerConfig, probe: HostProbe, writes: number): boolean {
  return options.rootless && !options.systemd && cgroupsPath === "" && writes === 0 && !probe.mayMakeCgroups();
}

/** The record without the members that are undefined: an option that was not given has no member. */
export function defined<T extends object>(record: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const result: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in record) {
    const value = record[name];
    if (value !== undefined) result[name] = value as Exclude<T[typeof name], undefined>;
  }
  return result;
}

/** config, linux.process: a capability that cannot be granted MUST be logged as a warning. */
export function isDemanded({ code }: Pick<Warning, "code">): boolean {
  return code === "capability-unknown" || code === "ambient-not-inheritable";
}
