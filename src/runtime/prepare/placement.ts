/** Which cgroup a container gets: a path of its own, or a unit of systemd. */

import { type CgroupHierarchies, type CgroupSteps, compileCgroup, resolveCgroup } from "../cgroup/index.ts";
import type { UnitSteps } from "../cgroup/systemd/index.ts";
import { compileUnit } from "../cgroup/systemd/index.ts";
import type { ContainerConfig } from "../config/index.ts";
import type { CgroupRecord } from "../state/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import type { HostProbe } from "./host-probe.ts";
import type { RuntimeOptions } from "./options.ts";

export interface Placement {
  /** Below every hierarchy's mount point. */
  readonly path: string;
  readonly steps: CgroupSteps | UnitSteps;
  readonly unit?: NonNullable<CgroupRecord["systemd"]>;
}

/** @throws RuntError config-invalid or cgroup */
export function placeContainer(
  options: RuntimeOptions,
  id: string,
  config: ContainerConfig,
  facts: CgroupHierarchies,
  probe: HostProbe,
): Placement {
  const { cgroupsPath, resources, annotations } = config;
  const { rootless } = options;
  if (options.systemd) {
    const { path, steps } = compileUnit(facts, probe.systemd(rootless), {
      id,
      cgroupsPath,
      resources,
      annotations,
      rootless,
    });
    const { unit, socket, direct } = steps.join;
    return { path, steps, unit: { unit, socket, direct } };
  }
  const path = defenceDisabled("cgroup-path") ? cgroupsPath : resolveCgroup(cgroupsPath, id);
  return { path, steps: compileCgroup(facts, path, resources, { rootless }) };
}
