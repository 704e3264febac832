/** Warnings about values that are accepted, but do not do what their author expects. Pure. */

import { HIGHEST_SHARES, LOWEST_SHARES } from "../../shared/linux/index.ts";
import type { ContainerSpec } from "./schema/container.ts";
import type { TaskSpec } from "./schema/task.ts";

/** With less memory (bytes) a container of runt does not start. */
const LEAST_MEMORY = 256 * 1024;

/** More names would make a line long. */
const MOST_NAMES = 20;

/** One line for each, such as "web: container a: memory: ...". @param lacks what the host lacks to make networks; undefined: nothing, or it is not known */
export function warningsOf(tasks: readonly TaskSpec[], lacks?: string): string[] {
  return [...ofTasks(tasks), ...(lacks === undefined ? [] : fallbackWarnings(tasks, lacks))];
}

/** The host lacks the same for all of them. */
function fallbackWarnings(tasks: readonly TaskSpec[], lacks: string): string[] {
  const names = tasks.flatMap(({ name, network }) => (network?.fallback === undefined ? [] : [name]));
  if (names.length === 0) return [];
  const shown =
    names.length <= MOST_NAMES ? names.join(", ") : `${names.slice(0, MOST_NAMES).join(", ")} and ${names.length - MOST_NAMES} more`;
  return [`${shown}: network: only loopback, and no way to other pods and machines: ${lacks}`];
}

function ofTasks(tasks: readonly TaskSpec[]): string[] {
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

/** Traffic of an interface that belongs to the task (macvlan, VLAN, a device of the host) passes no firewall chain of the host. */
function networkWarnings(network: TaskSpec["network"]): string[] {
  if (network === undefined) return [];
  const links = [network, ...(network.further ?? [])].flatMap(({ name, link }) => (link === undefined ? [] : [`${name} (${link.type})`]));
  const where = network.mode === "isolated" ? "mode isolated" : links.join(", ");
  const metadata = network.metadata ? "" : ", and a task with CAP_NET_ADMIN can reach the metadata of a cloud";
  return where === "" ? [] : [`network: ${where}: no firewall rule of this host is applied to what the task sends and gets${metadata}`];
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
