import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { allowList, exceptionTexts } from "../devices/emulator.ts";
import { writeBlockIOV1, writeBlockIOV2 } from "./block-io.ts";
import { writeCpuset, writeCpuV1, writeCpuV2 } from "./cpu.ts";
import { limitText, writeMemoryV1, writeMemoryV2 } from "./memory.ts";
import type { Sink } from "./sink.ts";
import type { CgroupOptions } from "./steps.ts";

/** What the files of a version of cgroups are given. Of device rules, which on v2 a program does, only that they are left out. */
export function writeResources(version: 1 | 2, sink: Sink, resources: ResourceConfig, options: CgroupOptions): void {
  if (version === 1) writeV1(sink, resources, options);
  else writeV2(sink, resources);
  if (options.rootless && resources.devices.length > 0) sink.warn("devices", "device rules need rights on the host and are left out");
}

/** Controller files of cgroup v2 (Documentation/admin-guide/cgroup-v2), in the order in which they are written; unified last, so that it overrides. */
function writeV2(sink: Sink, resources: ResourceConfig): void {
  if (resources.pids) sink.write("pids", "pids.max", pidsLimit(resources.pids.limit), "pids/limit");
  if (resources.memory) writeMemoryV2(sink, resources.memory);
  if (resources.blockIO) writeBlockIOV2(sink, resources.blockIO);
  if (resources.cpu) {
    writeCpuV2(sink, resources.cpu);
    writeCpuset(sink, resources.cpu);
  }
  resources.hugepageLimits.forEach(({ pageSize, limit }, index) => {
    const pointer = `hugepageLimits/${index}`;
    sink.write("hugetlb", `hugetlb.${pageSize}.max`, limitText(limit), pointer);
    sink.write("hugetlb", `hugetlb.${pageSize}.rsvd.max`, limitText(limit), pointer);
  });
  for (const [device, limits] of Object.entries(resources.rdma))
    sink.write("rdma", "rdma.max", rdmaLimit(device, limits), `rdma/${device}`);
  const { network } = resources;
  if (network?.classID) sink.refuse("network/classID", "cgroup v2 has no net_cls controller");
  if (network && network.priorities.length > 0) sink.refuse("network/priorities", "cgroup v2 has no net_prio controller");
  for (const [key, value] of Object.entries(resources.unified)) writeUnified(sink, key, value);
}

/** A value of several lines is several writes: the kernel takes one setting a write. */
function writeUnified(sink: Sink, key: string, value: string): void {
  const pointer = `unified/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const dot = key.indexOf(".");
  if (key.includes("/") || dot < 1 || dot === key.length - 1) {
    throw new RuntError("config-invalid", `unified resource "${key}" must be a file name of the form controller.parameter`, {
      pointer: `/linux/resources/${pointer}`,
    });
  }
  for (const line of value.split("\n")) {
    if (line !== "") sink.write(key.slice(0, dot), key, line, pointer);
  }
}

/** Controller files of cgroup v1 (Documentation/admin-guide/cgroup-v1), in the order in which they are written. */
function writeV1(sink: Sink, resources: ResourceConfig, options: CgroupOptions): void {
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
function pidsLimit(limit: bigint): string {
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

/** One line of rdma.max. */
function rdmaLimit(device: string, limits: { readonly hcaHandles?: number; readonly hcaObjects?: number }): string {
  const parts = [device];
  if (limits.hcaHandles !== undefined) parts.push(`hca_handle=${limits.hcaHandles}`);
  if (limits.hcaObjects !== undefined) parts.push(`hca_object=${limits.hcaObjects}`);
  return parts.join(" ");
}
