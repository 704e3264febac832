/** Findings about control groups, and limits of block IO, huge pages, network and RDMA. */
import { type Entries, entry } from "../catalogue/entry.ts";

const R = "/linux/resources";
const MEMORY = "config-linux.md#memory";
const BLOCK = "config-linux.md#block-io";
const HUGE = "config-linux.md#huge-page-limits";
const V1 = {
  cgroup: { version: 1, hierarchies: [{ mountpoint: "/sys/fs/cgroup/memory", controllers: ["memory", "devices"], writable: true }] },
};

export const RESOURCES: Entries = {
  "cgroups-path": entry(
    "error",
    "A cgroupsPath that the driver cannot use",
    "config-linux.md#cgroups-path",
    "It is a path within the hierarchies, without .. components. With systemd it is slice:prefix:name. Each driver accepts only its own form.",
    "use a path, or --systemd-cgroup",
    { broken: { "/linux/cgroupsPath": "/a/../../b" }, fixed: { "/linux/cgroupsPath": "/a/b" } },
  ),
  "cgroup-occupied": entry(
    "error",
    "The cgroup belongs to another program",
    "config-linux.md#cgroups-path",
    "Its processes would share the limits, and would be killed with the container.",
    "use another path",
    {
      broken: { "/linux/cgroupsPath": "/busy" },
      files: { "/sys/fs/cgroup/busy/cgroup.procs": { kind: "file", text: "77\n" } },
    },
  ),
  "cgroup-frozen": entry(
    "error",
    "The cgroup is frozen",
    "config-linux.md#cgroups-path",
    "Every process that enters it stops at once.",
    "thaw it, or use another path",
    {
      broken: { "/linux/cgroupsPath": "/cold" },
      files: {
        "/sys/fs/cgroup/cold/cgroup.procs": { kind: "file", text: "" },
        "/sys/fs/cgroup/cold/cgroup.freeze": { kind: "file", text: "1\n" },
      },
    },
  ),
  "cgroup-value": entry(
    "error",
    "A limit that no kernel accepts",
    "config-linux.md#control-groups",
    "The kernel's own rules refuse it.",
    "use a value in the range that the message names",
    {
      broken: { [`${R}/memory`]: { swap: 1073741824 } },
      fixed: { [`${R}/memory`]: { limit: 536870912, swap: 1073741824 } },
      at: `${R}/memory/swap`,
    },
  ),
  "cgroup-field": entry(
    "error",
    "A limit that this version of cgroups does not have",
    "config-linux.md#control-groups",
    "v1 and v2 do not have the same files.",
    "leave it out, or use unified for a file of v2",
    { broken: { [`${R}/memory/swappiness`]: 60 } },
  ),
  "cgroup-controller": entry(
    "error",
    "A limit with a missing controller",
    "cgroups(7)",
    "It is not mounted (v1), or not enabled for the tree (v2).",
    "enable the controller, or leave the limit out",
    {
      broken: { [`${R}/pids/limit`]: 100 },
      facts: V1,
    },
  ),
  "cgroup-file-missing": entry(
    "error",
    "A limit whose file this kernel does not have",
    "cgroups(7)",
    "It was built without it, or is too old.",
    "leave it out",
    {
      broken: { [`${R}/cpu`]: { quota: 100000, burst: 10000 } },
      fixed: { [`${R}/cpu`]: { quota: 100000 } },
      at: `${R}/cpu/burst`,
      facts: { cgroup: { files: ["cpu.max", "cpu.weight"] } },
    },
  ),
  "cgroup-adjusted": entry(
    "warning",
    "A limit with a different effect",
    "cgroups(7)",
    "The kernel clips the value, or another value takes precedence.",
    "use a value in range",
    {
      broken: { [`${R}/cpu/shares`]: 1 },
      fixed: { [`${R}/cpu/shares`]: 2 },
    },
  ),
  "resource-ignored": entry(
    "warning",
    "A limit of kernel memory",
    MEMORY,
    "Kernels no longer have a separate limit for it.",
    "leave it out",
    {
      broken: { [`${R}/memory/kernel`]: 1048576 },
    },
  ),
  "weight-range": entry("error", "A weight of block IO out of range", BLOCK, "It is 10 to 1000; 0 is none.", "use 10 to 1000", {
    broken: { [`${R}/blockIO/weight`]: 5 },
    fixed: { [`${R}/blockIO/weight`]: 10 },
  }),
  "weight-device-empty": entry(
    "error",
    "A device without a weight",
    BLOCK,
    "An entry of weightDevice sets weight or leafWeight.",
    "add a weight",
    {
      broken: { [`${R}/blockIO/weightDevice`]: [{ major: 8, minor: 0 }] },
      fixed: { [`${R}/blockIO/weightDevice`]: [{ major: 8, minor: 0, weight: 100 }] },
      at: `${R}/blockIO/weightDevice/0`,
    },
  ),
  "throttle-zero": entry(
    "warning",
    "A rate of 0",
    BLOCK,
    "On cgroup v1 it means no limit, and v2 refuses it.",
    "leave it out, or give a rate",
    {
      broken: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 8, minor: 0, rate: 0 }] },
      fixed: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 8, minor: 0, rate: 1048576 }] },
      at: `${R}/blockIO/throttleReadBpsDevice/0/rate`,
    },
  ),
  "block-device-missing": entry(
    "error",
    "A block device that the host does not have",
    BLOCK,
    "The kernel refuses the limit.",
    "correct the numbers; lsblk shows them",
    {
      broken: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 60, minor: 9, rate: 1048576 }] },
      fixed: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 8, minor: 0, rate: 1048576 }] },
      at: `${R}/blockIO/throttleReadBpsDevice/0`,
    },
  ),
  "block-device-partition": entry("error", "A limit for a partition", BLOCK, "Limits are for whole disks.", "use the numbers of the disk", {
    broken: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 8, minor: 1, rate: 1048576 }] },
    fixed: { [`${R}/blockIO/throttleReadBpsDevice`]: [{ major: 8, minor: 0, rate: 1048576 }] },
    at: `${R}/blockIO/throttleReadBpsDevice/0`,
  }),
  "page-size": entry(
    "error",
    "An invalid size of huge pages",
    HUGE,
    "It is a number and its unit, as in the names of the kernel's files.",
    "write 2MB, 1GB or 64KB",
    {
      broken: { [`${R}/hugepageLimits`]: [{ pageSize: "2MiB", limit: 0 }] },
      fixed: { [`${R}/hugepageLimits`]: [{ pageSize: "2MB", limit: 0 }] },
      at: `${R}/hugepageLimits/0/pageSize`,
    },
  ),
  "hugepage-unsupported": entry(
    "error",
    "A size of huge pages that the host does not have",
    HUGE,
    "The kernel has no file for it.",
    "use a size that it has",
    {
      broken: { [`${R}/hugepageLimits`]: [{ pageSize: "4MB", limit: 0 }] },
      fixed: { [`${R}/hugepageLimits`]: [{ pageSize: "2MB", limit: 0 }] },
      at: `${R}/hugepageLimits/0/pageSize`,
    },
  ),
  "hugepage-multiple": entry(
    "warning",
    "A limit that is not a multiple of its page size",
    HUGE,
    "The kernel rounds down.",
    "use a multiple",
    {
      broken: { [`${R}/hugepageLimits`]: [{ pageSize: "2MB", limit: 3145728 }] },
      fixed: { [`${R}/hugepageLimits`]: [{ pageSize: "2MB", limit: 4194304 }] },
      at: `${R}/hugepageLimits/0/limit`,
    },
  ),
  "network-interface-missing": entry(
    "error",
    "A network interface that the host does not have",
    "config-linux.md#network",
    "The kernel refuses a priority for it.",
    "correct the name",
    {
      broken: { [`${R}/network/priorities`]: [{ name: "eth9", priority: 1 }] },
      fixed: { [`${R}/network/priorities`]: [{ name: "eth0", priority: 1 }] },
      at: `${R}/network/priorities/0/name`,
      facts: { cgroup: { version: 1, hierarchies: [{ mountpoint: "/n", controllers: ["net_prio", "devices"], writable: true }] } },
    },
  ),
  "rdma-empty": entry(
    "error",
    "An RDMA device without a limit",
    "config-linux.md#rdma",
    "An entry sets hcaHandles or hcaObjects.",
    "add one of them",
    {
      broken: { [`${R}/rdma`]: { mlx5_0: {} } },
      fixed: { [`${R}/rdma`]: { mlx5_0: { hcaHandles: 3 } } },
      at: `${R}/rdma/mlx5_0`,
      facts: { rdmaDevices: ["mlx5_0"] },
    },
  ),
  "rdma-device-missing": entry(
    "error",
    "An RDMA device that the host does not have",
    "config-linux.md#rdma",
    "The kernel refuses a limit for it.",
    "correct the name",
    {
      broken: { [`${R}/rdma`]: { mlx5_1: { hcaHandles: 3 } } },
      fixed: { [`${R}/rdma`]: { mlx5_0: { hcaHandles: 3 } } },
      at: `${R}/rdma/mlx5_1`,
      facts: { rdmaDevices: ["mlx5_0"] },
    },
  ),
  "unified-key": entry(
    "error",
    "A key of unified that is not a file name",
    "config-linux.md#unified",
    "It is the name of a file of cgroup v2, controller.parameter.",
    "correct it",
    {
      broken: { [`${R}/unified`]: { memory: "1" } },
      fixed: { [`${R}/unified`]: { "memory.high": "67108864" } },
      at: `${R}/unified/memory`,
    },
  ),
};
