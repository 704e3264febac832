/** The share of the host that tasks use. It is computed from the records each time, so it cannot leak. */
import { hostPortOf, type TaskSpec } from "../spec/index.ts";
import { holdsNetwork } from "./network.ts";
import type { TaskRecord } from "./record.ts";

/** The capacity of the host for tasks. */
export interface HostCapacity {
  /** CPUs worth of time. */
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** Integers, so that sums are exact. */
export interface Demand {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** "8080/tcp" */
  readonly ports: readonly string[];
}

export interface Ledger {
  readonly capacity: Demand;
  readonly used: Demand;
}

const SHARES_OF_A_CPU = 1024;

/** The task's own values win over the sums of its containers; of memory the reservation counts before the limit. */
export function demandOf({ cpus, memory, containers, ports, network }: TaskSpec): Demand {
  const sum = (value: (container: TaskSpec["containers"][number]) => number) => containers.reduce((all, one) => all + value(one), 0);
  return {
    cpuMillis: millis(cpus ?? sum((one) => one.cpus ?? (one.cpuShares ?? 0) / SHARES_OF_A_CPU)),
    memoryBytes: memory ?? sum((one) => one.memoryReservation ?? one.memory ?? 0),
    ports: [...ports.map(({ port, protocol }) => `${port}/${protocol}`), ...(network?.ports ?? []).map(hostPortOf)],
  };
}

function millis(cpus: number): number {
  return Math.round(cpus * 1000);
}

/** Of all tasks that are admitted, and have not given it back. A network that is still there has its ports. */
export function ledgerOf(records: readonly TaskRecord[], capacity: HostCapacity): Ledger {
  const none: Demand = { cpuMillis: 0, memoryBytes: 0, ports: [] };
  return {
    capacity: { cpuMillis: millis(capacity.cpus), memoryBytes: capacity.memoryBytes, ports: [] },
    used: records.reduce((all, record) => add(all, heldBy(record)), none),
  };
}

function heldBy(record: TaskRecord): Demand {
  const demand = demandOf(record.spec);
  if (record.admission === "admitted") return demand;
  return { cpuMillis: 0, memoryBytes: 0, ports: record.admission === "released" && holdsNetwork(record) ? demand.ports : [] };
}

function add(a: Demand, b: Demand): Demand {
  return { cpuMillis: a.cpuMillis + b.cpuMillis, memoryBytes: a.memoryBytes + b.memoryBytes, ports: [...a.ports, ...b.ports] };
}

export function consume({ capacity, used }: Ledger, demand: Demand): Ledger {
  return { capacity, used: add(used, demand) };
}

/** Describes what is short; empty when the demand fits. */
export function shortages({ capacity, used }: Ledger, demand: Demand): string[] {
  const short: string[] = [];
  const cpu = capacity.cpuMillis - used.cpuMillis;
  if (demand.cpuMillis > 0 && demand.cpuMillis > cpu) short.push(`cpu: needs ${demand.cpuMillis / 1000}, free ${Math.max(0, cpu) / 1000}`);
  const memory = capacity.memoryBytes - used.memoryBytes;
  if (demand.memoryBytes > 0 && demand.memoryBytes > memory) {
    short.push(`memory: needs ${demand.memoryBytes} bytes, free ${Math.max(0, memory)}`);
  }
  for (const port of demand.ports) if (used.ports.includes(port)) short.push(`port: ${port} is taken`);
  return short;
}

/** More is taken than there is: the host was configured to less while tasks ran. Empty: it is not so. */
export function overcommitments({ capacity, used }: Ledger): string[] {
  const over: string[] = [];
  if (used.cpuMillis > capacity.cpuMillis) over.push(`cpu: ${used.cpuMillis / 1000} of ${capacity.cpuMillis / 1000} are taken`);
  if (used.memoryBytes > capacity.memoryBytes) over.push(`memory: ${used.memoryBytes} of ${capacity.memoryBytes} bytes are taken`);
  const twice = used.ports.filter((port, index) => used.ports.indexOf(port) < index);
  return [...over, ...twice.map((port) => `port: ${port} is taken twice`)];
}

/** What is wrong with a demand that no sum may contain. */
export function ledgerError({ cpuMillis, memoryBytes }: Demand): string | undefined {
  if (!Number.isSafeInteger(cpuMillis) || cpuMillis < 0) return `cpu ${cpuMillis / 1000} cannot be accounted for`;
  if (!Number.isSafeInteger(memoryBytes) || memoryBytes < 0) return `memory ${memoryBytes} cannot be accounted for`;
  return undefined;
}
