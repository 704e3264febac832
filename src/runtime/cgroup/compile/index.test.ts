import { describe, expect, test } from "vitest";
import type { ResourceConfig } from "../../config/index.ts";
import type { CgroupHierarchies } from "../model.ts";
import { compileCgroup } from "./index.ts";

const V1_NAMES = ["cpu", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "hugetlb", "net_cls", "net_prio", "rdma"];
const V1: CgroupHierarchies = { version: 1, hierarchies: V1_NAMES.map((name) => ({ mountpoint: `/cg/${name}`, controllers: [name] })) };
const V2: CgroupHierarchies = {
  version: 2,
  hierarchies: [{ mountpoint: "/cg", controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma"] }],
};
const NONE: ResourceConfig = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };
const SWAP_LOW = "memory+swap limit should be >= memory limit: 5 < 10";
const SWAP_ALONE = "unable to set swap limit without memory limit";
const NO_REAL_TIME = "cgroup v2 has no real-time limits";
const NO_IO = {
  weightDevice: [],
  throttleReadBpsDevice: [],
  throttleWriteBpsDevice: [],
  throttleReadIOPSDevice: [],
  throttleWriteIOPSDevice: [],
};

/** "file value" of every write, without the device rules. */
function writes(facts: CgroupHierarchies, resources: Partial<ResourceConfig>): string[] {
  return compileCgroup(facts, "/x", { ...NONE, ...resources }, { rootless: true }).writes.map(
    ({ path, value }) => `${path.slice(path.lastIndexOf("/") + 1)} ${value}`,
  );
}

/** What is written, or as a text what is wrong with it. */
type Expected = readonly string[] | string;

/** Name, resources, v1, v2. */
const TABLE: readonly (readonly [string, Partial<ResourceConfig>, Expected, Expected])[] = [
  ["nothing", {}, [], []],
  ["memory limit", { memory: { limit: 64n << 20n } }, ["memory.limit_in_bytes 67108864"], ["memory.max 67108864"]],
  [
    "memory and swap",
    { memory: { limit: 100n, swap: 150n } },
    ["memory.limit_in_bytes 100", "memory.memsw.limit_in_bytes 150"],
    ["memory.swap.max 50", "memory.max 100"],
  ],
  [
    "swap equal to memory",
    { memory: { limit: 100n, swap: 100n } },
    ["memory.limit_in_bytes 100", "memory.memsw.limit_in_bytes 100"],
    ["memory.swap.max 0", "memory.max 100"],
  ],
  [
    "unlimited swap",
    { memory: { limit: 100n, swap: -1n } },
    ["memory.limit_in_bytes 100", "memory.memsw.limit_in_bytes -1"],
    ["memory.swap.max max", "memory.max 100"],
  ],
  [
    "unlimited memory means unlimited swap",
    { memory: { limit: -1n } },
    ["memory.limit_in_bytes -1", "memory.memsw.limit_in_bytes -1"],
    ["memory.swap.max max", "memory.max max"],
  ],
  ["zero is not set", { memory: { limit: 0n, swap: 0n, reservation: 0n }, cpu: { shares: 0n, quota: 0n, period: 0n } }, [], []],
  ["reservation", { memory: { reservation: 5n } }, ["memory.soft_limit_in_bytes 5"], ["memory.low 5"]],
  [
    "swap beside unlimited memory",
    { memory: { limit: -1n, swap: 50n } },
    "memory+swap limit should be >= memory limit: the memory is unlimited",
    ["memory.swap.max 50", "memory.max max"],
  ],
  ["swap below memory", { memory: { limit: 10n, swap: 5n } }, SWAP_LOW, SWAP_LOW],
  ["swap without memory", { memory: { swap: 5n } }, SWAP_ALONE, SWAP_ALONE],
  ["unlimited swap without memory", { memory: { swap: -1n } }, ["memory.memsw.limit_in_bytes -1"], ["memory.swap.max max"]],
  ["unlimited reservation", { memory: { reservation: -1n } }, ["memory.soft_limit_in_bytes -1"], ["memory.low max"]],
  [
    "swappiness",
    { memory: { swappiness: 0n } },
    ["memory.swappiness 0"],
    "cannot apply linux.resources.memory.swappiness: cgroup v2 has no swappiness of its own",
  ],
  [
    "no OOM killer",
    { memory: { disableOOMKiller: true } },
    ["memory.oom_control 1"],
    "cannot apply linux.resources.memory.disableOOMKiller: cgroup v2 cannot disable the OOM killer",
  ],
  ["an OOM killer as usual", { memory: { disableOOMKiller: false } }, [], []],
  ["buffers of TCP", { memory: { kernelTCP: 4096n } }, ["memory.kmem.tcp.limit_in_bytes 4096"], []],
  ["hierarchy", { memory: { useHierarchy: true } }, ["memory.use_hierarchy 1"], []],
  [
    "no hierarchy",
    { memory: { useHierarchy: false } },
    ["memory.use_hierarchy 0"],
    "cannot apply linux.resources.memory.useHierarchy: cgroup v2 is always hierarchical",
  ],
  [
    "cpu",
    { cpu: { shares: 512n, quota: 50_000n, period: 200_000n, burst: 10_000n } },
    ["cpu.shares 512", "cpu.cfs_period_us 200000", "cpu.cfs_quota_us 50000", "cpu.cfs_burst_us 10000"],
    ["cpu.weight 59", "cpu.max 50000 200000", "cpu.max.burst 10000"],
  ],
  ["cpu quota alone", { cpu: { quota: 20_000n } }, ["cpu.cfs_quota_us 20000"], ["cpu.max 20000 100000"]],
  ["cpu period alone", { cpu: { period: 20_000n } }, ["cpu.cfs_period_us 20000"], ["cpu.max max 20000"]],
  ["cpu quota without limit", { cpu: { quota: -1n } }, ["cpu.cfs_quota_us -1"], ["cpu.max max 100000"]],
  ["idle wins over shares", { cpu: { shares: 2n, idle: 1n } }, ["cpu.shares 2", "cpu.idle 1"], ["cpu.idle 1"]],
  ["not idle", { cpu: { shares: 1024n, idle: 0n } }, ["cpu.shares 1024", "cpu.idle 0"], ["cpu.idle 0", "cpu.weight 100"]],
  ["no burst", { cpu: { burst: 0n } }, ["cpu.cfs_burst_us 0"], ["cpu.max.burst 0"]],
  ["shares below the least", { cpu: { shares: 1n } }, "the minimum allowed cpu-shares is 2", ["cpu.weight 1"]],
  ["shares above the most", { cpu: { shares: 262_145n } }, "the maximum allowed cpu-shares is 262144", ["cpu.weight 10000"]],
  ["real-time period", { cpu: { realtimePeriod: 1000n } }, ["cpu.rt_period_us 1000"], NO_REAL_TIME],
  ["real-time runtime", { cpu: { realtimeRuntime: 10n } }, ["cpu.rt_runtime_us 10"], NO_REAL_TIME],
  ["cpuset", { cpu: { cpus: "0-1", mems: "0" } }, ["cpuset.cpus 0-1", "cpuset.mems 0"], ["cpuset.cpus 0-1", "cpuset.mems 0"]],
  ["pids", { pids: { limit: 32n } }, ["pids.max 32"], ["pids.max 32"]],
  ["pids 0 is the least limit", { pids: { limit: 0n } }, ["pids.max 1"], ["pids.max 1"]],
  ["pids unlimited", { pids: { limit: -1n } }, ["pids.max max"], ["pids.max max"]],
  [
    "block i/o",
    {
      blockIO: {
        ...NO_IO,
        weight: 500,
        weightDevice: [{ major: 8, minor: 0, weight: 300 }],
        throttleReadBpsDevice: [{ major: 8, minor: 0, rate: 1n << 40n }],
        throttleWriteIOPSDevice: [{ major: 8, minor: 16, rate: 10n }],
      },
    },
    [
      "blkio.bfq.weight 500",
      "blkio.bfq.weight_device 8:0 300",
      "blkio.throttle.read_bps_device 8:0 1099511627776",
      "blkio.throttle.write_iops_device 8:16 10",
    ],
    ["io.bfq.weight 500", "io.bfq.weight 8:0 300", "io.max 8:0 rbps=1099511627776", "io.max 8:16 wiops=10"],
  ],
  [
    "huge pages",
    { hugepageLimits: [{ pageSize: "2MB", limit: 4n }] },
    ["hugetlb.2MB.limit_in_bytes 4", "hugetlb.2MB.rsvd.limit_in_bytes 4"],
    ["hugetlb.2MB.max 4", "hugetlb.2MB.rsvd.max 4"],
  ],
  ["leaf weight", { blockIO: { ...NO_IO, leafWeight: 100 } }, ["blkio.leaf_weight 100"], "cgroup v2 has no leaf weight"],
  [
    "leaf weight of a device",
    { blockIO: { ...NO_IO, weightDevice: [{ major: 8, minor: 0, leafWeight: 100 }] } },
    ["blkio.leaf_weight_device 8:0 100"],
    "cannot apply linux.resources.blockIO.weightDevice.0.leafWeight: cgroup v2 has no leaf weight",
  ],
  ["network class", { network: { classID: 0x100001, priorities: [] } }, ["net_cls.classid 1048577"], "cgroup v2 has no net_cls controller"],
  [
    "network priorities",
    { network: { priorities: [{ name: "eth0", priority: 5 }] } },
    ["net_prio.ifpriomap eth0 5"],
    "cgroup v2 has no net_prio controller",
  ],
  ["a network that asks for nothing", { network: { priorities: [] } }, [], []],
  ["unified core file", { unified: { "cgroup.max.depth": "3" } }, "unified resources need cgroup v2", ["cgroup.max.depth 3"]],
  [
    "rdma",
    { rdma: { mlx5_1: { hcaHandles: 3, hcaObjects: 10000 } } },
    ["rdma.max mlx5_1 hca_handle=3 hca_object=10000"],
    ["rdma.max mlx5_1 hca_handle=3 hca_object=10000"],
  ],
];

describe.each(TABLE)("%s", (_, resources, v1, v2) => {
  const check = (facts: CgroupHierarchies, expected: Expected) => {
    if (typeof expected === "string") expect(() => writes(facts, resources)).toThrow(expected);
    else expect(writes(facts, resources)).toEqual(expected);
  };
  test("v1", () => check(V1, v1));
  test("v2", () => check(V2, v2));
});

test("unified values come last, a line each", () => {
  expect(writes(V2, { unified: { "memory.high": "9", "io.max": "8:0 rbps=1\n8:16 rbps=2\n" }, pids: { limit: 3n } })).toEqual([
    "pids.max 3",
    "memory.high 9",
    "io.max 8:0 rbps=1",
    "io.max 8:16 rbps=2",
  ]);
});

const REFUSED: readonly (readonly [string, CgroupHierarchies, Partial<ResourceConfig>, string])[] = [
  ["swappiness", V1, { memory: { swappiness: 101n } }, "invalid memory swappiness value: 101"],
  ["unified on v1", V1, { unified: { "memory.high": "1" } }, "unified resources need cgroup v2"],
  ["unified with a slash", V2, { unified: { "../memory.high": "1" } }, "must be a file name"],
  ["unified without a parameter", V2, { unified: { memory: "1" } }, "must be a file name"],
  [
    "unified of a missing controller",
    V2,
    { unified: { "misc.max": "1" } },
    "linux.resources.unified.misc.max: the misc controller is not enabled",
  ],
  [
    "controller that is not mounted",
    { version: 1, hierarchies: [] },
    { pids: { limit: 1n } },
    "cannot apply linux.resources.pids.limit: the pids controller is not mounted",
  ],
];

test.each(REFUSED)("%s is refused", (_, facts, resources, message) => {
  expect(() => writes(facts, resources)).toThrow(message);
});

test("v1: every hierarchy is created and joined, device rules start from deny all", () => {
  const steps = compileCgroup(V1, "/x", NONE, { rootless: false });
  expect(steps.create.map(({ path }) => path)).toEqual(V1_NAMES.map((name) => `/cg/${name}/x`));
  expect(steps.join).toEqual({ tasks: V1_NAMES.map((name) => `/cg/${name}/x/tasks`) });
  expect(steps.writes.slice(0, 3).map(({ path, value }) => [path, value])).toEqual([
    ["/cg/devices/x/devices.deny", "a"],
    ["/cg/devices/x/devices.allow", "b *:* m"],
    ["/cg/devices/x/devices.allow", "c *:* m"],
  ]);
});

test("v1: without a devices hierarchy a rooted container is refused", () => {
  expect(() => compileCgroup({ version: 1, hierarchies: [] }, "/x", NONE, { rootless: false })).toThrow(
    "the devices controller is not mounted",
  );
});

test("v2: one directory, and the rules as data for the device program", () => {
  const steps = compileCgroup(V2, "/x", NONE, { rootless: false });
  expect(steps.join).toEqual({ directory: "/cg/x" });
  expect(steps.devices?.path).toBe("/cg/x");
  expect(steps.devices?.rules.slice(0, 3)).toEqual(["a:*:*:rwm:deny", "b:*:*:m:allow", "c:*:*:m:allow"]);
});

test.each([
  [{ shares: 1n }, ["linux.resources.cpu.shares: 1 is taken as the nearest value between 2 and 262144"]],
  [{ shares: 100n, idle: 1n }, ["linux.resources.cpu.shares: unable to apply both cpu shares and cpu idle: idle wins"]],
  [{ shares: 100n }, []],
])("v2: what is applied otherwise than asked for is a warning (%o)", (cpu, expected) => {
  expect(compileCgroup(V2, "/x", { ...NONE, cpu }, { rootless: true }).warnings).toEqual(expected);
});

test("v2: buffers of TCP have no limit of their own, which is a warning", () => {
  const { warnings } = compileCgroup(V2, "/x", { ...NONE, memory: { kernelTCP: 1n } }, { rootless: true });
  expect(warnings).toEqual(["linux.resources.memory.kernelTCP: it has no effect: cgroup v2 counts buffers of TCP as memory"]);
});

test("errors point into config.json", () => {
  expect.assertions(1);
  try {
    compileCgroup(V2, "/x", { ...NONE, memory: { swappiness: 1n } }, { rootless: true });
  } catch (error) {
    expect(error).toMatchObject({ code: "cgroup", details: { pointer: "/linux/resources/memory/swappiness" } });
  }
});

test("only the listed device rules, when the default ones are not wanted", () => {
  const listed = [{ from: "", allow: true, type: "c", major: 1, minor: 3, access: "rw" }] as const;
  const rules = (resources: Partial<ResourceConfig>) =>
    compileCgroup(V2, "/x", { ...NONE, devices: listed, ...resources }, { rootless: false }).devices?.rules;
  expect(rules({ onlyListedDevices: true })).toEqual(["a:*:*:rwm:deny", "c:1:3:rw:allow"]);
  expect(rules({})).toContain("c:5:0:rwm:allow");
  const { writes: v1 } = compileCgroup(V1, "/x", { ...NONE, devices: listed, onlyListedDevices: true }, { rootless: false });
  expect(v1.map(({ path, value }) => [path.slice(path.lastIndexOf("/") + 1), value])).toEqual([
    ["devices.deny", "a"],
    ["devices.allow", "c 1:3 rw"],
  ]);
});
