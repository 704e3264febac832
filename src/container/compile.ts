/** Bundle + options + host facts -> Plan: the same for create, run, plan and --dry-run. Reads, never writes. */
import { belowParent, type CgroupFacts, type CgroupRef, cgroupDirectories, cgroupSources, readHierarchies } from "../cgroup/index.ts";
import type { ContainerConfig } from "../config/types.ts";
import * as host from "../host/index.ts";
import { compile, type HostFacts, type Plan } from "../plan/index.ts";
import { locateGroups, type ResctrlRef } from "../resctrl/index.ts";
import { type CgroupRecord, checkId, containerDirectory } from "../state/index.ts";
import { loadBundle } from "./bundle.ts";
import { countListenFds } from "./descriptors.ts";
import { findIdProgram } from "./id-map-write.ts";
import { apparmorEnabled } from "./lsm.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";
import { placeContainer } from "./placement.ts";

export interface Compiled {
  readonly config: ContainerConfig;
  readonly plan: Plan;
  /** The container's cgroup directories (leaves); undefined when it gets none. */
  readonly cgroup?: CgroupRef & Pick<CgroupRecord, "systemd">;
  readonly resctrl?: ResctrlRef;
  readonly warnings: readonly string[];
}

export function compileBundle(options: RuntimeOptions, create: CreateOptions): Compiled {
  checkId(create.id);
  const config = placedBelow(options, create, loadBundle(create.bundle));
  const facts = readHierarchies();
  const { path, steps, unit } = placeContainer(options, create.id, config, facts);
  const placed = options.withoutCgroup || cannotHaveCgroup(options, config, facts, steps.writes.length) ? undefined : steps;
  const foreground = create.mode === "run" && !create.detach;
  const terminalSize = foreground && config.process?.terminal ? host.windowSize(0) : undefined;
  const resctrl = config.intelRdt && locateGroups(create.id, config.intelRdt.closId, config.intelRdt.monitoring);
  const hostFacts: HostFacts = {
    stateDirectory: containerDirectory(options.root, create.id),
    rootless: host.geteuid() !== 0,
    ...(options.rootless && { bindDevices: true }),
    ...callerFacts(),
    ...(config.process?.apparmorProfile !== undefined && { apparmor: apparmorEnabled() }),
    cgroupVersion: facts.version,
    cgroupSources: cgroupSources(facts, placed ? path : ""),
    ...(terminalSize ? { terminalSize } : {}),
    ...(placed ? { cgroup: placed } : {}),
    ...(resctrl ? { resctrl } : {}),
  };
  const { id, mode, noPivot, noNewKeyring, preserveFds, consoleSocket, pidFile } = create;
  const plan = compile({
    config,
    host: hostFacts,
    invocation: {
      id,
      mode,
      noPivot,
      noNewKeyring,
      preserveFds,
      listenFds: countListenFds(),
      ...(consoleSocket === undefined ? {} : { consoleSocket }),
      ...(pidFile === undefined ? {} : { pidFile }),
    },
  });
  return {
    config,
    plan,
    ...(placed ? { cgroup: { version: facts.version, paths: cgroupDirectories(facts, path), ...(unit && { systemd: unit }) } } : {}),
    ...(resctrl ? { resctrl } : {}),
    warnings: [
      ...config.warnings.map(({ message }) => message),
      ...steps.warnings,
      ...(options.withoutCgroup && steps.writes.length > 0 ? ["linux.resources has no effect without a cgroup"] : []),
    ],
  };
}

function placedBelow({ systemd }: RuntimeOptions, { id, cgroupParent }: CreateOptions, config: ContainerConfig): ContainerConfig {
  if (cgroupParent === undefined) return config;
  return { ...config, cgroupsPath: belowParent(config.cgroupsPath, id, cgroupParent, systemd ? "systemd" : "cgroupfs") };
}

function callerFacts(): Pick<HostFacts, "caller"> {
  const uid = host.geteuid();
  if (uid === 0) return {};
  const [newuidmap, newgidmap] = [findIdProgram("newuidmap"), findIdProgram("newgidmap")];
  return { caller: { uid, gid: host.getegid(), ...(newuidmap && { newuidmap }), ...(newgidmap && { newgidmap }) } };
}

/** A rootless container that asks for nothing does without one where the caller may not make it. */
function cannotHaveCgroup(options: RuntimeOptions, { cgroupsPath }: ContainerConfig, facts: CgroupFacts, writes: number): boolean {
  return options.rootless && !options.systemd && cgroupsPath === "" && writes === 0 && !isWritable(facts);
}

/** Whether the caller may make cgroups at the root of every hierarchy. */
function isWritable({ hierarchies }: CgroupFacts): boolean {
  return hierarchies.every(({ mountpoint }) => host.access(mountpoint, host.ACCESS.WRITE));
}
