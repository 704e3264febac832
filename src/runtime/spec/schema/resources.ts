import { z } from "zod";
import { flag, int64, optional, text, textMap, uint16, uint32, uint64 } from "./common.ts";

const memory = z.object({
  limit: optional(int64),
  reservation: optional(int64),
  swap: optional(int64),
  kernel: optional(int64),
  kernelTCP: optional(int64),
  swappiness: optional(uint64),
  disableOOMKiller: optional(flag),
  useHierarchy: optional(flag),
  checkBeforeUpdate: optional(flag),
});

const cpu = z.object({
  shares: optional(uint64),
  quota: optional(int64),
  burst: optional(uint64),
  period: optional(uint64),
  realtimeRuntime: optional(int64),
  realtimePeriod: optional(uint64),
  cpus: optional(text),
  mems: optional(text),
  idle: optional(int64),
});

const weightDevice = z.object({ major: int64, minor: int64, weight: optional(uint16), leafWeight: optional(uint16) });
const throttleDevice = z.object({ major: int64, minor: int64, rate: uint64 }).meta({ id: "throttleDevice" });

const blockIO = z.object({
  weight: optional(uint16),
  leafWeight: optional(uint16),
  weightDevice: optional(z.array(weightDevice)),
  throttleReadBpsDevice: optional(z.array(throttleDevice)),
  throttleWriteBpsDevice: optional(z.array(throttleDevice)),
  throttleReadIOPSDevice: optional(z.array(throttleDevice)),
  throttleWriteIOPSDevice: optional(z.array(throttleDevice)),
});

const deviceRule = z.object({
  allow: flag,
  type: optional(text),
  major: optional(int64),
  minor: optional(int64),
  access: optional(text),
});

const network = z.object({
  classID: optional(uint32),
  priorities: optional(z.array(z.object({ name: text, priority: uint32 }))),
});

/** `linux.resources`; also the document `update --resources` reads. */
export const resources = z.object({
  devices: optional(z.array(deviceRule)),
  memory: optional(memory),
  cpu: optional(cpu),
  pids: optional(z.object({ limit: optional(int64) })),
  blockIO: optional(blockIO),
  hugepageLimits: optional(z.array(z.object({ pageSize: text, limit: uint64 }))),
  network: optional(network),
  rdma: optional(z.record(text, z.object({ hcaHandles: optional(uint32), hcaObjects: optional(uint32) }))),
  unified: optional(textMap),
});
