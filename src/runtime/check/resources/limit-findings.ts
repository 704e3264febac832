/** Findings about limits of memory, CPU time and processes. */
import { type Entries, type Example, entry } from "../catalogue/entry.ts";

const R = "/linux/resources";
const MEMORY = "config-linux.md#memory";
const CPU = "config-linux.md#cpu";
const V1 = {
  cgroup: { version: 1, hierarchies: [{ mountpoint: "/sys/fs/cgroup/memory", controllers: ["memory", "devices"], writable: true }] },
};

/** Cgroup v1 with real-time groups, and a parent that has 10 ms of each second. */
const REAL_TIME_HOST: Pick<Example, "facts" | "files"> = {
  facts: {
    cgroup: {
      version: 1,
      hierarchies: [{ mountpoint: "/sys/fs/cgroup/cpu", controllers: ["cpu", "devices"], writable: true }],
      files: ["cpu.rt_runtime_us", "cpu.rt_period_us"],
    },
  },
  files: {
    "/sys/fs/cgroup/cpu/pods/cpu.rt_runtime_us": { kind: "file", text: "10000\n" },
    "/sys/fs/cgroup/cpu/pods/cpu.rt_period_us": { kind: "file", text: "1000000\n" },
  },
};

export const LIMITS: Entries = {
  "memory-negative": entry(
    "error",
    "A negative amount of memory",
    MEMORY,
    "-1 is unlimited, and no other value may be negative.",
    "use -1 for unlimited",
    {
      broken: { [`${R}/memory/limit`]: -2 },
      fixed: { [`${R}/memory/limit`]: -1 },
    },
  ),
  "memory-tiny": entry(
    "error",
    "A limit that is too small for any container",
    MEMORY,
    "Below 32 KiB the kernel kills the container's init. The unit is bytes.",
    "raise it",
    {
      broken: { [`${R}/memory/limit`]: 64 },
      fixed: { [`${R}/memory/limit`]: 67108864 },
    },
  ),
  "memory-small": entry(
    "warning",
    "A limit that is too small for most programs",
    MEMORY,
    "Below 512 KiB the kernel kills all but the smallest static programs. The unit is bytes.",
    "raise it",
    {
      broken: { [`${R}/memory/limit`]: 262144 },
      fixed: { [`${R}/memory/limit`]: 67108864 },
    },
  ),
  "memory-unaligned": entry(
    "advice",
    "A limit that is not a multiple of the page size",
    MEMORY,
    "The kernel counts pages, and rounds down.",
    "use a multiple of 4096",
    {
      broken: { [`${R}/memory/limit`]: 100000001 },
      fixed: { [`${R}/memory/limit`]: 99999744 },
    },
  ),
  "memory-reservation": entry(
    "warning",
    "A reservation above the limit",
    MEMORY,
    "The limit is reached first, so the reservation has no effect.",
    "lower it",
    {
      broken: { [`${R}/memory`]: { limit: 67108864, reservation: 134217728 } },
      fixed: { [`${R}/memory`]: { limit: 134217728, reservation: 67108864 } },
      at: `${R}/memory/reservation`,
    },
  ),
  "memory-swap-low": entry(
    "error",
    "A limit of memory and swap below that of memory",
    MEMORY,
    "swap is the sum of both.",
    "raise it to the limit or above",
    {
      broken: { [`${R}/memory`]: { limit: 134217728, swap: 67108864 } },
      fixed: { [`${R}/memory`]: { limit: 67108864, swap: 134217728 } },
      at: `${R}/memory/swap`,
    },
  ),
  "memory-swappiness": entry("error", "swappiness out of range", MEMORY, "It is 0 to 100.", "use 0 to 100", {
    broken: { [`${R}/memory/swappiness`]: 101 },
    fixed: { [`${R}/memory/swappiness`]: 100 },
    facts: V1,
  }),
  "memory-hierarchy": entry(
    "error",
    "A memory cgroup that is not hierarchical below one that is",
    MEMORY,
    "cgroup v1 allows it only below a cgroup that is not hierarchical, and since Linux 5.11 nowhere.",
    "leave useHierarchy out",
    {
      broken: { [`${R}/memory/useHierarchy`]: false },
      facts: V1,
      files: { "/sys/fs/cgroup/memory/memory.use_hierarchy": { kind: "file", text: "1\n" } },
    },
  ),
  "memory-above-host": entry("warning", "A limit above the memory of the host", MEMORY, "It limits nothing.", "lower it, or use -1", {
    broken: { [`${R}/memory/limit`]: 1099511627776 },
    fixed: { [`${R}/memory/limit`]: 67108864 },
  }),
  "cpu-quota": entry(
    "error",
    "A quota that the kernel refuses",
    CPU,
    "It is 1 ms or more, in microseconds.",
    "use 1000 or more, or -1 for unlimited",
    {
      broken: { [`${R}/cpu/quota`]: 500 },
      fixed: { [`${R}/cpu/quota`]: 50000 },
    },
  ),
  "cpu-period": entry("error", "A period that the kernel refuses", CPU, "It is 1 ms to 1 s, in microseconds.", "use 1000 to 1000000", {
    broken: { [`${R}/cpu/period`]: 100 },
    fixed: { [`${R}/cpu/period`]: 100000 },
  }),
  "cpu-burst": entry("error", "A burst above the quota", CPU, "A burst uses unused parts of the quota, up to the quota.", "lower it", {
    broken: { [`${R}/cpu`]: { quota: 10000, burst: 20000 } },
    fixed: { [`${R}/cpu`]: { quota: 20000, burst: 10000 } },
    at: `${R}/cpu/burst`,
  }),
  "cpu-quota-host": entry("warning", "A quota of more CPUs than the host has", CPU, "It limits nothing.", "lower it", {
    broken: { [`${R}/cpu/quota`]: 900000 },
    fixed: { [`${R}/cpu/quota`]: 100000 },
  }),
  "cpu-quota-negative": entry("advice", "A negative quota", CPU, "It means unlimited.", "write -1", {
    broken: { [`${R}/cpu/quota`]: -2 },
    fixed: { [`${R}/cpu/quota`]: -1 },
  }),
  "cpu-realtime": entry("error", "More real-time runtime than the period", CPU, "The kernel refuses it.", "lower realtimeRuntime", {
    broken: { [`${R}/cpu`]: { realtimeRuntime: 20000, realtimePeriod: 10000 } },
    fixed: { [`${R}/cpu`]: { realtimeRuntime: 10000, realtimePeriod: 20000 } },
    at: `${R}/cpu/realtimeRuntime`,
    facts: { cgroup: { version: 1, hierarchies: [{ mountpoint: "/c", controllers: ["cpu", "devices"], writable: true }] } },
  }),
  "cpu-realtime-budget": entry(
    "error",
    "More real-time runtime than the parent cgroup has",
    "config-linux.md#cpu",
    "On cgroup v1, a group cannot have more real-time runtime than its parent, and a new group has none.",
    "write cpu.rt_runtime_us of the groups above first, from the top down, or leave realtimeRuntime out",
    {
      broken: { "/linux/cgroupsPath": "/pods/web", [`${R}/cpu`]: { realtimeRuntime: 20000 } },
      fixed: { "/linux/cgroupsPath": "/pods/web", [`${R}/cpu`]: { realtimeRuntime: 5000 } },
      at: `${R}/cpu/realtimeRuntime`,
      ...REAL_TIME_HOST,
    },
  ),
  "cpu-realtime-none": entry(
    "error",
    "A real-time policy in a cgroup without real-time runtime",
    "sched(7)",
    "This kernel distributes real-time runtime between cgroups, and a new cgroup has none: none of its processes can have SCHED_FIFO or SCHED_RR.",
    "set linux.resources.cpu.realtimeRuntime",
    {
      broken: { "/process/scheduler": { policy: "SCHED_FIFO", priority: 1 } },
      fixed: { "/process/scheduler": { policy: "SCHED_BATCH" } },
      at: "/process/scheduler/policy",
      ...REAL_TIME_HOST,
    },
  ),
  "cpu-idle": entry("error", "idle is neither 0 nor 1", CPU, "1 is on, and 0 is off.", "use 0 or 1", {
    broken: { [`${R}/cpu/idle`]: 2 },
    fixed: { [`${R}/cpu/idle`]: 1 },
  }),
  "affinity-offline": entry(
    "warning",
    "An exec affinity to offline CPUs",
    "config.md#linux-process",
    "The container runs, but exec fails in it.",
    "use CPUs that are online",
    {
      broken: { "/process/execCPUAffinity": { initial: "9" } },
      fixed: { "/process/execCPUAffinity": { initial: "0" } },
      at: "/process/execCPUAffinity/initial",
    },
  ),
  "list-syntax": entry("error", "An invalid list of CPUs or nodes", "cpuset(7)", "It has the form 0-3,7.", "correct it", {
    broken: { [`${R}/cpu/cpus`]: "0-" },
    fixed: { [`${R}/cpu/cpus`]: "0-1" },
  }),
  "cpus-offline": entry(
    "error",
    "CPUs that containers cannot use",
    "cpuset(7)",
    "On cgroup v1 they are offline, or not in the root cpuset. On cgroup v2 the host cannot have them.",
    "use available CPUs",
    {
      broken: { [`${R}/cpu/cpus`]: "0-9" },
      fixed: { [`${R}/cpu/cpus`]: "0-1" },
    },
  ),
  "nodes-offline": entry("error", "Memory nodes that do not exist", "cpuset(7)", "The host does not have them.", "use existing nodes", {
    broken: { [`${R}/cpu/mems`]: "1" },
    fixed: { [`${R}/cpu/mems`]: "0" },
  }),
  "cpuset-not-granted": entry(
    "warning",
    "CPUs or memory nodes that are offline, on cgroup v2",
    "cgroup-v2.rst",
    "The kernel takes the list and grants what is online. If nothing of it is, the container has what its parent has.",
    "use those that are online",
    {
      broken: { [`${R}/cpu/cpus`]: "0-7" },
      fixed: { [`${R}/cpu/cpus`]: "0-3" },
      facts: { cpus: { possible: "0-7" } },
    },
  ),
  "pids-low": entry(
    "warning",
    "A limit of one process",
    "config-linux.md#pids",
    "The program itself is one process: it can start no other process and no thread. 0 means 1.",
    "raise it; -1 is unlimited",
    {
      broken: { [`${R}/pids/limit`]: 1 },
      fixed: { [`${R}/pids/limit`]: 100 },
    },
  ),
  "pids-hooks": entry(
    "error",
    "A limit of one process, and hooks",
    "config-linux.md#pids",
    "createContainer and startContainer hooks are started by init, which is one process itself.",
    "raise it",
    {
      broken: { [`${R}/pids/limit`]: 1, "/hooks": { createContainer: [{ path: "/usr/bin/hook", timeout: 5 }] } },
      fixed: { [`${R}/pids/limit`]: 100, "/hooks": { createContainer: [{ path: "/usr/bin/hook", timeout: 5 }] } },
      at: `${R}/pids/limit`,
    },
  ),
  "pids-high": entry(
    "error",
    "A limit above the maximum of the kernel",
    "config-linux.md#pids",
    "There are at most 4194304 process ids.",
    "lower it; -1 is unlimited",
    {
      broken: { [`${R}/pids/limit`]: 4194305 },
      fixed: { [`${R}/pids/limit`]: 4194304 },
    },
  ),
  "pids-negative": entry("advice", "A negative limit of processes", "config-linux.md#pids", "It means unlimited.", "write -1", {
    broken: { [`${R}/pids/limit`]: -5 },
    fixed: { [`${R}/pids/limit`]: -1 },
  }),
};
