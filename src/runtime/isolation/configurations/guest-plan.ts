/** The half of a plan that is carried out in the machine: by the runt there, which compiles the same configuration for the same facts. */
import { type CgroupHierarchies, cgroupSources, compileCgroup, resolveCgroup } from "../../cgroup/index.ts";
import type { ContainerConfig } from "../../config/index.ts";
import { compile, type Plan } from "../../plan/index.ts";
import { GUEST } from "../places.ts";

/** What Debian's cloud kernel has, and the guest's first process mounts (src/runtime/isolation/guest/boot.ts). */
const GUEST_CGROUPS: CgroupHierarchies = {
  version: 2,
  hierarchies: [{ mountpoint: "/sys/fs/cgroup", controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"] }],
};

export function guestPlan(config: ContainerConfig, id: string): Plan {
  const path = resolveCgroup(config.cgroupsPath, id);
  const cgroup = compileCgroup(GUEST_CGROUPS, path, config.resources, { rootless: false });
  const stream = `${GUEST.streams}0`;
  return compile({
    config,
    host: {
      stateDirectory: `${GUEST.state}/${id}`,
      rootless: false,
      cgroupVersion: 2,
      cgroupSources: cgroupSources(GUEST_CGROUPS, path),
      cgroup,
    },
    invocation: {
      ...{ id, mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0, pidFile: `${stream}/pid` },
      ...(config.process?.terminal && { consoleSocket: `${stream}/console` }),
    },
  });
}
