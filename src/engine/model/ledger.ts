/** The capacity that tasks use. It is computed from the records each time, so that it cannot leak. */
import { hostPortOf, type TaskSpec } from "../spec/index.ts";
import { holdsNetwork } from "./network.ts";
import type { TaskRecord } from "./record.ts";

/** The capacity of the host for tasks. */
export interface HostCapacity {
  /** Number of CPUs; may be a fraction. */
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** The values are integers, so that sums are exact. */
export interface Demand {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  /** Such as "8080/tcp". */
  readonly ports: readonly string[];
}

export interface Ledger {
  readonly capacity: Demand;
  readonly used: Demand;
}

const SHARES_OF_A_CPU = 1024;

/** Values of the task take precedence over sums of its containers. For memory, a reservation takes precedence over the limit. */
export function demandOf({ cpus, memory, containers, ports, network }: TaskSpec): Demand {
  const sum = (value: (container: TaskSpec["containers"][number]) => number) => containers.reduce((all, one) => all + value(one), 0);
  return {
    cpuMillis: millis(cpus ?? sum((one) => one.cpus ?? (one.cpuShares ?? 0) / SHARES_OF_A_CPU)),
    memoryBytes: memory ?? sum((one) => one.memoryReservation ?? one.memory ?? 0),
    // A task may have one port on several addresses.
    ports: [...new Set([...ports.map(({ port, protocol }) => `${port}/${protocol}`), ...(network?.ports ?? []).map(hostPortOf)])],
  };
}

function millis(cpus: number): number {
  return Math.round(cpus * 1000);
}

/** The sum over all tasks that were admitted and have not released their share. A released task keeps its ports until its network is removed. */
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

/** Describes what is short; empty if the demand fits. @param holders by port, the id of the task that has it */
export function shortages({ capacity, used }: Ledger, demand: Demand, holders: ReadonlyMap<string, string> = new Map()): string[] {
  const short: string[] = [];
  const cpu = capacity.cpuMillis - used.cpuMillis;
  if (demand.cpuMillis > 0 && demand.cpuMillis > cpu) short.push(`cpu: needs ${demand.cpuMillis / 1000}, free ${Math.max(0, cpu) / 1000}`);
  const memory = capacity.memoryBytes - used.memoryBytes;
  if (demand.memoryBytes > 0 && demand.memoryBytes > memory) {
    short.push(`memory: needs ${demand.memoryBytes} bytes, free ${Math.max(0, memory)}`);
  }
  for (const port of demand.ports) if (used.ports.includes(port)) short.push(`port: ${port} is taken${byHolder(holders.get(port))}`);
  return short;
}

function byHolder(holder: string | undefined): string {
  return holder === undefined ? "" : ` by ${holder}`;
}

/** Describes what is taken beyond the capacity, which may have been configured to less while tasks ran. Empty: nothing. */
export function overcommitments({ capacity, used }: Ledger): string[] {
  const over: string[] = [];
  if (used.cpuMillis > capacity.cpuMillis) over.push(`cpu: ${used.cpuMillis / 1000} of ${capacity.cpuMillis / 1000} are taken`);
  if (used.memoryBytes > capacity.memoryBytes) over.push(`memory: ${used.memoryBytes} of ${capacity.memoryBytes} bytes are taken`);
  const twice = used.ports.filter((port, index) => used.ports.indexOf(port) < index);
  return [...over, ...twice.map((port) => `port: ${port} is taken twice`)];
}

/** Describes why a demand is not valid, so that it must not be added up. */
export function ledgerError({ cpuMillis, memoryBytes }: Demand): string | undefined {
  if (!Number.isSafeInteger(cpuMillis) || cpuMillis < 0) return `cpu ${cpuMillis / 1000} cannot be accounted for`;
  if (!Number.isSafeInteger(memoryBytes) || memoryBytes < 0) return `memory ${memoryBytes} cannot be accounted for`;
  return undefined;
}
