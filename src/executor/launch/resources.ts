/** Limits -> linux.resources of the OCI configuration. */
import { ExecutorError } from "../errors.ts";
import type { OciResources } from "../runtime/types.ts";
import type { Resources } from "./command.ts";

const CPU_PERIOD = 100_000;
/** The kernel's floor for a quota is 1 ms. */
const LOWEST_CPUS = 0.01;
const SHARES = { lowest: 2, highest: 262_144 };

const KEYS: ReadonlySet<string> = new Set<keyof Resources>([
  "memoryBytes",
  "memoryReservationBytes",
  "memorySwapBytes",
  "cpuShares",
  "cpus",
  "cpuset",
  "memoryNodes",
  "pids",
  "hugepages",
]);

/** @throws ExecutorError invalid-argument: a bad limit is an error, never no limit */
export function ociResources(resources: Resources, cgroupVersion: 1 | 2): OciResources {
  checkResources(resources);
  const { memoryBytes, memoryReservationBytes, memorySwapBytes, cpuShares, cpus, cpuset, memoryNodes, pids, hugepages = {} } = resources;
  const pages = Object.entries(hugepages).map(([pageSize, limit]) => ({ pageSize, limit }));
  const memory = {
    ...(memoryBytes ? { limit: memoryBytes, ...swapOf(memoryBytes, memorySwapBytes, cgroupVersion) } : {}),
    ...(memoryReservationBytes ? { reservation: memoryReservationBytes } : {}),
  };
  const cpu = {
    ...(cpuShares ? { shares: cpuShares } : {}),
    ...(cpus ? { quota: Math.floor(cpus * CPU_PERIOD), period: CPU_PERIOD } : {}),
    ...(cpuset ? { cpus: cpuset } : {}),
    ...(memoryNodes ? { mems: memoryNodes } : {}),
  };
  return {
    ...(Object.keys(memory).length > 0 ? { memory } : {}),
    ...(Object.keys(cpu).length > 0 ? { cpu } : {}),
    ...(pids ? { pids: { limit: pids } } : {}),
    ...(pages.length > 0 ? { hugepageLimits: pages } : {}),
  };
}

function swapOf(memory: number, both: number | undefined, cgroupVersion: 1 | 2): { readonly swap?: number; readonly swappiness?: number } {
  if (both === undefined || both === 0 || both === memory) return cgroupVersion === 2 ? { swap: memory } : { swappiness: 0 };
  return { swap: both };
}

/** Of a container that runs: how eagerly the kernel swaps was settled at its launch. @throws ExecutorError invalid-argument */
export function changedResources(resources: Resources, cgroupVersion: 1 | 2): OciResources {
  const { memory, ...changes } = ociResources(resources, cgroupVersion);
  const { swappiness: _, ...limits } = (memory ?? {}) as Readonly<Record<string, unknown>>;
  return { ...changes, ...(memory === undefined ? {} : { memory: limits }) };
}

/** @throws ExecutorError invalid-argument */
export function checkResources(resources: Resources): void {
  for (const key of Object.keys(resources)) if (!KEYS.has(key)) refuse(key, "unknown limit", { allowed: [...KEYS] });
  const { memoryBytes = 0, memoryReservationBytes = 0, memorySwapBytes = 0, cpuShares, cpus, pids = 0, hugepages = {} } = resources;
  for (const [name, value] of Object.entries({ memoryBytes, memoryReservationBytes, pids })) {
    if (!Number.isSafeInteger(value) || value < 0) refuse(name, `${value} is no whole number from 0`);
  }
  for (const [pageSize, value] of Object.entries(hugepages)) {
    if (!/^[1-9]\d*[KMG]B$/.test(pageSize)) refuse("hugepages", `${pageSize} is no size of pages like 2MB`);
    if (!Number.isSafeInteger(value) || value < 0) refuse("hugepages", `${value} is no whole number from 0`);
  }
  if (memoryBytes > 0 && memoryReservationBytes > memoryBytes)
    refuse("memoryReservationBytes", `${memoryReservationBytes} is above memoryBytes ${memoryBytes}`);
  const isSwap = memorySwapBytes === -1 || (Number.isSafeInteger(memorySwapBytes) && memorySwapBytes >= memoryBytes);
  if (memorySwapBytes !== 0 && (memoryBytes === 0 || !isSwap))
    refuse("memorySwapBytes", `${memorySwapBytes} is neither -1 nor a number from memoryBytes on`);
  if (cpuShares !== undefined && (!Number.isInteger(cpuShares) || cpuShares < SHARES.lowest || cpuShares > SHARES.highest)) {
    refuse("cpuShares", `${cpuShares} is not between ${SHARES.lowest} and ${SHARES.highest}`);
  }
  if (cpus !== undefined && !(cpus >= LOWEST_CPUS && Number.isFinite(cpus))) refuse("cpus", `${cpus} is below ${LOWEST_CPUS}`);
  for (const key of ["cpuset", "memoryNodes"] as const) {
    if (resources[key] !== undefined && !/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(resources[key]))
      refuse(key, `${resources[key]} is no list like 0-3,7`);
  }
}

function refuse(name: string, reason: string, details: Readonly<Record<string, unknown>> = {}): never {
  throw new ExecutorError("invalid-argument", `resources.${name}: ${reason}`, { name, ...details });
}
