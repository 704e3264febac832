/** linux.resources in exact numbers. Zero means "not asked for" where Go's encoders cannot leave the field out. */
import type { Integer, SpecResources } from "../spec/index.ts";
import type { DeviceRule, ResourceConfig, ThrottleDevice } from "./types.ts";
import type { Warn } from "./warnings.ts";

type Memory = NonNullable<ResourceConfig["memory"]>;
type Cpu = NonNullable<ResourceConfig["cpu"]>;
type BlockIO = NonNullable<ResourceConfig["blockIO"]>;

const given = (value: Integer | null | undefined): bigint | undefined =>
  value === null || value === undefined ? undefined : BigInt(value);
const nonZero = (value: Integer | null | undefined): bigint | undefined => (value ? BigInt(value) : undefined);

/** Copy without the fields that are undefined. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const result: Partial<T> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) result[key] = value;
  }
  return result as T;
}

function deriveMemory(memory: NonNullable<SpecResources["memory"]>, warn: Warn): Memory {
  if (memory.kernel)
    warn("resource-ignored", "/linux/resources/memory/kernel", "memory.kernel has no effect: kernels no longer limit it on its own");
  return defined<Memory>({
    limit: nonZero(memory.limit),
    reservation: nonZero(memory.reservation),
    swap: nonZero(memory.swap),
    kernelTCP: nonZero(memory.kernelTCP),
    swappiness: given(memory.swappiness),
    disableOOMKiller: memory.disableOOMKiller ?? undefined,
    useHierarchy: memory.useHierarchy ?? undefined,
    checkBeforeUpdate: memory.checkBeforeUpdate ?? undefined,
  });
}

function deriveCpu(cpu: NonNullable<SpecResources["cpu"]>): Cpu {
  return defined<Cpu>({
    shares: nonZero(cpu.shares),
    quota: nonZero(cpu.quota),
    burst: given(cpu.burst),
    period: nonZero(cpu.period),
    realtimeRuntime: nonZero(cpu.realtimeRuntime),
    realtimePeriod: nonZero(cpu.realtimePeriod),
    cpus: cpu.cpus || undefined,
    mems: cpu.mems || undefined,
    idle: given(cpu.idle),
  });
}

type SpecThrottle = NonNullable<NonNullable<SpecResources["blockIO"]>["throttleReadBpsDevice"]>;

function throttles(devices: SpecThrottle | null | undefined): readonly ThrottleDevice[] {
  return (devices ?? []).map(({ major, minor, rate }) => ({ major: Number(major), minor: Number(minor), rate: BigInt(rate) }));
}

function deriveBlockIO(blockIO: NonNullable<SpecResources["blockIO"]>): BlockIO {
  return defined<BlockIO>({
    weight: blockIO.weight || undefined,
    leafWeight: blockIO.leafWeight || undefined,
    weightDevice: (blockIO.weightDevice ?? []).map((device) =>
      defined<BlockIO["weightDevice"][number]>({
        major: Number(device.major),
        minor: Number(device.minor),
        weight: device.weight || undefined,
        leafWeight: device.leafWeight || undefined,
      }),
    ),
    throttleReadBpsDevice: throttles(blockIO.throttleReadBpsDevice),
    throttleWriteBpsDevice: throttles(blockIO.throttleWriteBpsDevice),
    throttleReadIOPSDevice: throttles(blockIO.throttleReadIOPSDevice),
    throttleWriteIOPSDevice: throttles(blockIO.throttleWriteIOPSDevice),
  });
}

const WILDCARD = -1;

/** Absent numbers are wildcards, an absent type is all types, absent access is all access. */
function deriveRules(rules: NonNullable<SpecResources["devices"]>): readonly DeviceRule[] {
  return rules.map((rule, index) => ({
    from: `/linux/resources/devices/${index}`,
    allow: rule.allow,
    type: (rule.type || "a") as DeviceRule["type"],
    major: Number(rule.major ?? WILDCARD),
    minor: Number(rule.minor ?? WILDCARD),
    access: rule.access || "rwm",
  }));
}

function deriveRdma(rdma: NonNullable<SpecResources["rdma"]>): ResourceConfig["rdma"] {
  const result: Record<string, { hcaHandles?: number; hcaObjects?: number }> = {};
  for (const [name, limits] of Object.entries(rdma)) {
    result[name] = defined<{ hcaHandles?: number; hcaObjects?: number }>({
      hcaHandles: limits.hcaHandles ?? undefined,
      hcaObjects: limits.hcaObjects ?? undefined,
    });
  }
  return result;
}

function deriveNetwork(network: NonNullable<SpecResources["network"]>): NonNullable<ResourceConfig["network"]> {
  const priorities = network.priorities ?? [];
  return network.classID ? { classID: network.classID, priorities } : { priorities };
}

export function deriveResources(resources: SpecResources | null | undefined, warn: Warn): ResourceConfig {
  const { memory, cpu, blockIO, network } = resources ?? {};
  const pidsLimit = resources?.pids?.limit;
  return {
    ...(memory && { memory: deriveMemory(memory, warn) }),
    ...(cpu && { cpu: deriveCpu(cpu) }),
    ...(pidsLimit !== null && pidsLimit !== undefined && { pids: { limit: BigInt(pidsLimit) } }),
    ...(blockIO && { blockIO: deriveBlockIO(blockIO) }),
    hugepageLimits: (resources?.hugepageLimits ?? []).map(({ pageSize, limit }) => ({ pageSize, limit: BigInt(limit) })),
    ...(network && { network: deriveNetwork(network) }),
    rdma: deriveRdma(resources?.rdma ?? {}),
    unified: resources?.unified ?? {},
    devices: deriveRules(resources?.devices ?? []),
  };
}
