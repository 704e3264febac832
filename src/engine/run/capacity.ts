/** The default capacity of this host for tasks. */
import { availableParallelism, totalmem } from "node:os";
import type { HostCapacity } from "../model/index.ts";

/** The CPUs that this process may use, and the memory of the host. Source: sched_getaffinity(2), sysinfo(2). */
export function capacityOf(configured: Partial<HostCapacity> = {}): HostCapacity {
  return { cpus: configured.cpus ?? availableParallelism(), memoryBytes: configured.memoryBytes ?? totalmem() };
}
