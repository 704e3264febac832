import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import { writeBlockIOV2 } from "./block-io.ts";
import { writeCpuset, writeCpuV2 } from "./cpu.ts";
import { limitText, writeMemoryV2 } from "./memory.ts";
import { rdmaLimit } from "./rdma.ts";
import type { Sink } from "./sink.ts";
import { pidsLimit } from "./v1.ts";

/** Controller files of cgroup v2 (Documentation/admin-guide/cgroup-v2), in the order in which they are written; unified last, so that it overrides. */
export function writeV2(sink: Sink, resources: ResourceConfig): void {
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
