import { cleanPath, pointerToken } from "../../spec/index.ts";
import type { HostCheck } from "../host/container-files.ts";
import { eachThrottle, HOOKS_OF_INIT } from "./advice.ts";

const RESOURCES = "/linux/resources";
const MIB = 1 << 20;

/** A limit that the whole machine cannot reach limits nothing. */
export const memoryOfHost: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const limit = linux?.resources?.memory?.limit;
  if (!limit) return;
  const total = facts.memory?.total ?? 0;
  if (total === 0 || Number(limit) <= total * MIB) return;
  // Engines write the highest number where they mean no limit.
  if (BigInt(limit) >= 1n << 62n) return;
  report.warning(
    "memory-above-host",
    `${RESOURCES}/memory/limit`,
    `memory.limit: ${limit} bytes are more than this host has (${total} MiB)`,
  );
};

/** config-linux, huge pages: a size that the kernel has. */
export const hugepageSizes: HostCheck = ({ linux }, report, { view: { facts } }) => {
  if (!linux?.resources?.hugepageLimits || (facts.memory?.total ?? 0) === 0) return;
  const sizes = facts.memory?.hugepageSizes ?? [];
  linux.resources?.hugepageLimits?.forEach(({ pageSize }, index) => {
    if (sizes.includes(pageSize)) return;
    const offered = sizes.length === 0 ? "it has none" : `it has ${sizes.join(", ")}`;
    report.error(
      "hugepage-unsupported",
      `${RESOURCES}/hugepageLimits/${index}/pageSize`,
      `this host has no huge pages of ${pageSize} (${offered})`,
    );
  });
};

/** config-linux, block IO: whole disks of this host. */
export const blockDevices: HostCheck = ({ linux }, report, { view }) => {
  const tree = view.live ? view.tree("/") : undefined;
  if (tree === undefined) return;
  const look = ({ major, minor }: { readonly major: number | bigint; readonly minor: number | bigint }, pointer: string) => {
    const place = `/sys/dev/block/${major}:${minor}`;
    if (view.stat(place) === undefined)
      report.error("block-device-missing", pointer, `blockIO: this host has no block device ${major}:${minor}`);
    else if (view.stat(`${place}/partition`) !== undefined)
      report.error("block-device-partition", pointer, `blockIO: ${major}:${minor} is a partition, limits are for whole disks`);
  };
  eachThrottle(linux?.resources, look);
  linux?.resources?.blockIO?.weightDevice?.forEach((device, index) => {
    look(device, `${RESOURCES}/blockIO/weightDevice/${index}`);
  });
};

/** config-linux, network and RDMA: names of this host. */
export const networkNames: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const priorities = linux?.resources?.network?.priorities ?? [];
  const moved = Object.keys(linux?.netDevices ?? {});
  const netDevices = priorities.length > 0 || moved.length > 0 ? facts.netDevices : undefined;
  if (netDevices && netDevices.length > 0) {
    priorities.forEach(({ name }, index) => {
      if (!netDevices.includes(name))
        report.error(
          "network-interface-missing",
          `${RESOURCES}/network/priorities/${index}/name`,
          `this host has no network interface "${name}" (it has ${netDevices.join(", ")})`,
        );
    });
    for (const device of moved) {
      if (netDevices.includes(device)) continue;
      report.error(
        "net-device-missing",
        `/linux/netDevices/${pointerToken(device)}`,
        `this host has no network device "${device}" (it has ${netDevices.join(", ")})`,
      );
    }
  }
  const rdma = Object.keys(linux?.resources?.rdma ?? {});
  if (rdma.length === 0 || facts.rdmaDevices === undefined || (facts.memory?.total ?? 0) === 0) return;
  for (const device of rdma)
    if (!facts.rdmaDevices.includes(device))
      report.error("rdma-device-missing", `${RESOURCES}/rdma/${pointerToken(device)}`, `this host has no RDMA device "${device}"`);
};

/** Files that not every kernel has, by the field that needs them. */
export const cgroupFiles: HostCheck = ({ linux }, report, { view: { facts } }) => {
  const { memory, cpu, blockIO } = linux?.resources ?? {};
  if (![memory?.swap, blockIO?.leafWeight, cpu?.burst, cpu?.idle, cpu?.realtimeRuntime].some(Boolean)) return;
  const { version = 0, files = [] } = facts.cgroup ?? {};
  if (files.length === 0) return;
  const look = (given: unknown, pointer: string, [v1, v2]: readonly [string, string], why: string, remedy = "leave it out") => {
    const file = version === 1 ? v1 : v2;
    // Without any file of the controller none of its cgroups was read.
    const family = files.some((name) => name.startsWith(`${file.split(".", 1)[0]}.`));
    if (given && family && !files.includes(file))
      report.error("cgroup-file-missing", `${RESOURCES}/${pointer}`, `this kernel has no ${file}: ${why}`, remedy);
  };
  look(
    memory?.swap && memory.swap !== -1,
    "memory/swap",
    ["memory.memsw.limit_in_bytes", "memory.swap.max"],
    "it does not account for swap",
    "leave it out, or boot the kernel with swapaccount=1",
  );
  look(
    blockIO?.leafWeight,
    "blockIO/leafWeight",
    ["blkio.leaf_weight", "blkio.leaf_weight"],
    "it went with the CFQ scheduler in Linux 5.0",
  );
  look(cpu?.burst, "cpu/burst", ["cpu.cfs_burst_us", "cpu.max.burst"], "bursts came with Linux 5.14");
  look(cpu?.idle, "cpu/idle", ["cpu.idle", "cpu.idle"], "idle groups came with Linux 5.15");
  look(cpu?.realtimeRuntime, "cpu/realtimeRuntime", ["cpu.rt_runtime_us", "cpu.rt_runtime_us"], "it was built without real-time groups");
};

/** config-linux, pids: init is one, and a hook that it starts another. 0 is taken as 1. */
export const pidsForHooks: HostCheck = ({ hooks, linux }, report, { view: { facts } }) => {
  const limit = linux?.resources?.pids?.limit;
  const kind = HOOKS_OF_INIT.find((kind) => hooks?.[kind]?.length);
  const isCounted = facts.cgroup?.hierarchies.some(({ controllers }) => controllers.includes("pids"));
  if ((limit !== 0 && limit !== 1) || kind === undefined || !isCounted) return;
  report.error("pids-hooks", `${RESOURCES}/pids/limit`, `pids.limit: with ${limit} init cannot start hooks.${kind}`);
};

/** Since this release memory is hierarchical on cgroup v1 as well; before, it is where the cgroup above is. */
const ALWAYS_HIERARCHICAL = [5, 11] as const;

/** The kernel's Documentation/admin-guide/cgroup-v1/memory: use_hierarchy. */
export const memoryHierarchy: HostCheck = ({ linux }, report, { view: { facts, live, text } }) => {
  if (linux?.resources?.memory?.useHierarchy !== false || facts.cgroup?.version !== 1) return;
  const memory = facts.cgroup.hierarchies.find(({ controllers }) => controllers.includes("memory"));
  if (memory === undefined) return;
  const [major = 0, minor = 0] = (facts.kernel?.release ?? "").split(".").map(Number);
  const isAlways = major > ALWAYS_HIERARCHICAL[0] || (major === ALWAYS_HIERARCHICAL[0] && minor >= ALWAYS_HIERARCHICAL[1]);
  if (!isAlways && !(live && text(`${memory.mountpoint}/memory.use_hierarchy`)?.trim() === "1")) return;
  report.error(
    "memory-hierarchy",
    `${RESOURCES}/memory/useHierarchy`,
    "memory.useHierarchy: the cgroup above is hierarchical, so that this one has to be, too",
  );
};

/** A new container in the cgroup of another would share its limits and its end. */
export const occupiedCgroup: HostCheck = ({ linux }, report, { view }) => {
  const path = linux?.cgroupsPath;
  if (!path?.startsWith("/") || !view.live) return;
  const pointer = "/linux/cgroupsPath";
  for (const { mountpoint } of view.facts.cgroup?.hierarchies ?? []) {
    const directory = `${mountpoint}${cleanPath(path)}`;
    const processes = view.text(`${directory}/cgroup.procs`)?.trim();
    if (processes === undefined) continue;
    const isFrozen =
      view.text(`${directory}/freezer.state`)?.trim() === "FROZEN" || view.text(`${directory}/cgroup.freeze`)?.trim() === "1";
    if (isFrozen) report.error("cgroup-frozen", pointer, `the cgroup "${path}" is frozen: nothing would start in it`);
    else if (processes === "") continue;
    else report.error("cgroup-occupied", pointer, `the cgroup "${path}" has ${processes.split("\n").length} process(es) in it`);
    return;
  }
};
