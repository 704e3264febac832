import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { allowList } from "../devices/emulator.ts";
import { exceptionTexts } from "../devices/usual.ts";
import { writeBlockIOV1 } from "./block-io.ts";
import { writeCpuset, writeCpuV1 } from "./cpu.ts";
import { limitText, writeMemoryV1 } from "./memory.ts";
import { rdmaLimit } from "./rdma.ts";
import type { Sink } from "./sink.ts";
import type { CgroupOptions } from "./steps.ts";

/** Controller files of cgroup v1 (Documentation/admin-guide/cgroup-v1), in the order in which they are written. */
export function writeV1(sink: Sink, resources: ResourceConfig, options: CgroupOptions): void {
  refuseUnified(resources);
  if (resources.cpu) writeCpuset(sink, resources.cpu);
  if (resources.memory) writeMemoryV1(sink, resources.memory);
  if (resources.cpu) writeCpuV1(sink, resources.cpu);
  if (resources.pids) sink.write("pids", "pids.max", pidsLimit(resources.pids.limit), "pids/limit");
  if (resources.blockIO) writeBlockIOV1(sink, resources.blockIO);
  resources.hugepageLimits.forEach(({ pageSize, limit }, index) => {
    const pointer = `hugepageLimits/${index}`;
    sink.write("hugetlb", `hugetlb.${pageSize}.limit_in_bytes`, limit, pointer);
    sink.write("hugetlb", `hugetlb.${pageSize}.rsvd.limit_in_bytes`, limit, pointer);
  });
  const { network } = resources;
  if (network?.classID) sink.write("net_cls", "net_cls.classid", network.classID, "network/classID");
  network?.priorities.forEach(({ name, priority }, index) => {
    sink.write("net_prio", "net_prio.ifpriomap", `${name} ${priority}`, `network/priorities/${index}`);
  });
  for (const [device, limits] of Object.entries(resources.rdma))
    sink.write("rdma", "rdma.max", rdmaLimit(device, limits), `rdma/${device}`);
  // init need not wait for these (src/runtime/plan/compile/cgroups.ts).
  writeDevices(sink, resources, options);
}

/** 0 would forbid every fork; runc and systemd read it as the least limit, 1. */
export function pidsLimit(limit: bigint): string {
  return limit === 0n ? "1" : limitText(limit);
}

function refuseUnified(resources: ResourceConfig): void {
  if (Object.keys(resources.unified).length === 0) return;
  throw new RuntError("config-invalid", "invalid configuration: unified resources need cgroup v2, this host has v1", {
    pointer: "/linux/resources/unified",
  });
}

/** The list is complete: everything is denied first, whatever the parent allows. */
function writeDevices(sink: Sink, resources: ResourceConfig, { rootless }: CgroupOptions): void {
  if (rootless) return;
  const list = allowList(resources);
  sink.write("devices", list.defaultAllow ? "devices.allow" : "devices.deny", "a", "devices");
  sink.writeEach("devices", list.defaultAllow ? "devices.deny" : "devices.allow", exceptionTexts(list), "devices");
}
