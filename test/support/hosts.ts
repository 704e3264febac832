/** Hosts as the cgroup layer sees them, for tests without root. */
import type { CgroupHierarchies } from "../../src/runtime/cgroup/index.ts";

const V1_CONTROLLERS = ["cpu,cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "hugetlb"];

/** cgroup v1 with co-mounted cpu and cpuacct and the named hierarchy of systemd. */
export const LEGACY_HOST: CgroupHierarchies = {
  version: 1,
  hierarchies: [
    ...V1_CONTROLLERS.map((name) => ({ mountpoint: `/sys/fs/cgroup/${name}`, controllers: name.split(",") })),
    { mountpoint: "/sys/fs/cgroup/systemd", controllers: ["name=systemd"] },
  ],
};

/** The same with the v2 hierarchy beside them. */
export const HYBRID_HOST: CgroupHierarchies = { ...LEGACY_HOST, unified: "/sys/fs/cgroup/unified" };

export const UNIFIED_HOST: CgroupHierarchies = {
  version: 2,
  hierarchies: [{ mountpoint: "/sys/fs/cgroup", controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma"] }],
};
