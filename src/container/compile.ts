/** Bundle + options + host facts -> Plan: the same for create, run, plan and --dry-run. Reads, never writes. */
import { type CgroupFacts, type CgroupRef, cgroupSources, compileCgroup, readHierarchies, resolveCgroup } from "../cgroup/index.ts";
import type { ContainerConfig } from "../config/types.ts";
import * as host from "../host/index.ts";
import { compile, type HostFacts, type Plan } from "../plan/index.ts";
import { checkId, containerDirectory } from "../state/index.ts";
import { loadBundle } from "./bundle.ts";
import { countListenFds } from "./descriptors.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";

export interface Compiled {
  readonly config: ContainerConfig;
  readonly plan: Plan;
  /** The container's cgroup directories (leaves); undefined when it gets none. */
  readonly cgroup?: CgroupRef;
  readonly warnings: readonly string[];
}

export function compileBundle(options: RuntimeOptions, create: CreateOptions): Compiled {
  checkId(create.id);
  const config = loadBundle(create.bundle);
  const facts = readHierarchies();
  const path = resolveCgroup(config.cgroupsPath, create.id);
  const steps = compileCgroup(facts, path, config.resources, { rootless: options.rootless });
  const placed = options.rootless && config.cgroupsPath === "" && steps.writes.length === 0 && !isWritable(facts) ? undefined : steps;
  const foreground = create.mode === "run" && !create.detach;
  const terminalSize = foreground && config.process?.terminal ? host.windowSize(0) : undefined;
  const hostFacts: HostFacts = {
    stateDirectory: containerDirectory(options.root, create.id),
    rootless: host.geteuid() !== 0,
    cgroupVersion: facts.version,
    cgroupSources: cgroupSources(facts, placed ? path : ""),
    ...(terminalSize ? { terminalSize } : {}),
    ...(placed ? { cgroup: placed } : {}),
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
    ...(placed ? { cgroup: { version: facts.version, paths: placed.create.map((entry) => entry.path) } } : {}),
    warnings: [...config.warnings.map(({ message }) => message), ...steps.warnings],
  };
}

/** Whether the caller may make cgroups at the root of every hierarchy. */
function isWritable({ hierarchies }: CgroupFacts): boolean {
  return hierarchies.every(({ mountpoint }) => host.access(mountpoint, host.ACCESS.WRITE));
}
