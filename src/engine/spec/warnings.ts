/** Warnings: values that are accepted, and that do something else than their author expects. Pure. */

import { HIGHEST_SHARES, LOWEST_SHARES } from "../../shared/linux/index.ts";
import type { ContainerSpec } from "./schema/container.ts";
import type { TaskSpec } from "./schema/task.ts";

/** With less memory (bytes) a container of runt does not start. */
const LEAST_MEMORY = 256 * 1024;

/** One line for each, such as "web: container a: memory: ...". */
export function warningsOf(tasks: readonly TaskSpec[]): string[] {
  return tasks.flatMap(({ name, memory, containers, network }) => [
    ...[...memoryWarnings(memory), ...networkWarnings(network)].map((text) => `${name}: ${text}`),
    ...containers.flatMap((one) => containerWarnings(one).map((text) => `${name}: container ${one.name}: ${text}`)),
  ]);
}

function containerWarnings({ cpuShares, memory }: ContainerSpec): string[] {
  const shares = appliedShares({ cpuShares });
  return [
    ...memoryWarnings(memory),
    ...(shares === cpuShares ? [] : [`cpuShares: the kernel does not take ${cpuShares}; the container gets ${shares}`]),
  ];
}

/** What leaves by an interface of the task's own is at no point in a chain of the host (macvlan, VLANs, a device that was given away). */
function networkWarnings(network: TaskSpec["network"]): string[] {
  if (network?.mode !== "isolated") return [];
  const metadata = network.metadata ? "" : ", and a task with CAP_NET_ADMIN can reach the metadata of a cloud";
  return [`network: mode isolated: no firewall rule of this host is applied to what the task sends and gets${metadata}`];
}

function memoryWarnings(memory: number | undefined): string[] {
  if (memory === undefined || memory >= LEAST_MEMORY) return [];
  return [`memory: with ${memory} bytes no container starts: it needs at least 256 KiB, and its program more`];
}

const [LEAST, MOST] = [Number(LOWEST_SHARES), Number(HIGHEST_SHARES)];

/** The value that the kernel gets for cpuShares: it takes 2 to 262144 (kernel/sched/sched.h). undefined: the container does not set it. */
export function appliedShares({ cpuShares }: { readonly cpuShares?: number | undefined }): number | undefined {
  return cpuShares === undefined ? undefined : Math.min(MOST, Math.max(LEAST, cpuShares));
}
