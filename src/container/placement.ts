/** Which cgroup a container gets: a path of its own, or a unit of systemd. */

import type { CgroupSteps } from "../cgroup/compile/steps.ts";
import { type CgroupFacts, compileCgroup, resolveCgroup } from "../cgroup/index.ts";
import type { UnitSteps } from "../cgroup/systemd/index.ts";
import type { ContainerConfig } from "../config/types.ts";
import * as host from "../host/index.ts";
import type { CgroupRecord } from "../state/index.ts";
import { systemd } from "./on-demand.ts";
import type { RuntimeOptions } from "./options.ts";

export interface Placement {
  /** Below every hierarchy's mount point. */
  readonly path: string;
  readonly steps: CgroupSteps | UnitSteps;
  readonly unit?: NonNullable<CgroupRecord["systemd"]>;
}

/** @throws RuntError config-invalid or cgroup */
export function placeContainer(options: RuntimeOptions, id: string, config: ContainerConfig, facts: CgroupFacts): Placement {
  const { cgroupsPath, resources, annotations } = config;
  const { rootless } = options;
  if (options.systemd) {
    const { readSystemd, compileUnit } = systemd();
    const { path, steps } = compileUnit(facts, readSystemd(rootless && hasUserManager()), {
      id,
      cgroupsPath,
      resources,
      annotations,
      rootless,
    });
    const { unit, socket, direct } = steps.join;
    return { path, steps, unit: { unit, socket, direct } };
  }
  const path = resolveCgroup(cgroupsPath, id);
  return { path, steps: compileCgroup(facts, path, resources, { rootless }) };
}

/** Root of a user namespace may be root of a whole system in it, whose systemd is the one to ask. */
function hasUserManager(): boolean {
  return host.geteuid() !== 0 || Boolean(host.getenv("XDG_RUNTIME_DIR") || host.getenv("DBUS_SESSION_BUS_ADDRESS"));
}
