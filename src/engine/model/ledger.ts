/** The capacity that tasks use. It is computed from the records each time, so that it cannot leak. */
import { claimText, collide, type PortClaim, portClaims, type TaskSpec } from "../spec/index.ts";
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
  readonly ports: readonly PortClaim[];
}

export interface Ledger {
  readonly capacity: Demand;
  readonly used: Demand;
}

const SHARES_OF_A_CPU = 1024;

/** Values of the task take precedence over sums of its containers. For memory, a reservation takes precedence over the limit. */
export function demandOf({ spec, group }: Pick<TaskRecord, "spec" | "group">): Demand {
  const { cpus, memory, containers } = spec;
  const sum = (value: (container: TaskSpec["containers"][number]) => number) => containers.reduce((all, one) => all + value(one), 0);
  return {
    cpuMillis: millis(cpus ?? sum((one) => one.cpus ?? (one.cpuShares ?? 0) / SHARES_OF_A_CPU)),
    memoryBytes: memory ?? sum((one) => one.memoryReservation ?? one.memory ?? 0),
    ports: portClaims(spec, group),
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
  const demand = demandOf(record);
  if (record.admission === "admitted") return demand;
  return { cpuMillis: 0, memoryBytes: 0, ports: record.admission === "released" && holdsNetwork(record) ? demand.ports : [] };
}

function add(a: Demand, b: Demand): Demand {
  return { cpuMillis: a.cpuMillis + b.cpuMillis, memoryBytes: a.memoryBytes + b.memoryBytes, ports: [...a.ports, ...b.ports] };
}

export function consume({ capacity, used }: Ledger, demand: Demand): Ledger {
  return { capacity, used: add(used, demand) };
}

/** A port that a task has. */
export interface HeldPort extends PortClaim {
  /** Id of the task. */
  readonly task: string;
}

/** Describes what is short; empty if the demand fits. @param held ports of which the message says who has them */
export function shortages({ capacity, used }: Ledger, demand: Demand, held: readonly HeldPort[] = []): string[] {
  const short: string[] = [];
  const cpu = capacity.cpuMillis - used.cpuMillis;
  if (demand.cpuMillis > 0 && demand.cpuMillis > cpu) short.push(`cpu: needs ${demand.cpuMillis / 1000}, free ${Math.max(0, cpu) / 1000}`);
  const memory = capacity.memoryBytes - used.memoryBytes;
  if (demand.memoryBytes > 0 && demand.memoryBytes > memory) {
    short.push(`memory: needs ${demand.memoryBytes} bytes, free ${Math.max(0, memory)}`);
  }
  const taken = demand.ports.filter((port) => used.ports.some((one) => collide(one, port)));
  return [...short, ...new Set(taken.map((port) => takenText(port, held)))];
}

export function takenText(port: PortClaim, held: readonly HeldPort[]): string {
  const holder = held.findLast((one) => collide(one, port));
  return `port: ${claimText(port)} is taken${holder === undefined ? "" : ` by ${holder.task}`}`;
}

/** Describes what is taken beyond the capacity, which may have been configured to less while tasks ran. Empty: nothing. */
export function overcommitments({ capacity, used }: Ledger): string[] {
  const over: string[] = [];
  if (used.cpuMillis > capacity.cpuMillis) over.push(`cpu: ${used.cpuMillis / 1000} of ${capacity.cpuMillis / 1000} are taken`);
  if (used.memoryBytes > capacity.memoryBytes) over.push(`memory: ${used.memoryBytes} of ${capacity.memoryBytes} bytes are taken`);
  const before = new Map<string, PortClaim[]>();
  for (const claim of used.ports) {
    const others = before.get(claim.port) ?? [];
    if (others.some((one) => collide(one, claim))) over.push(`port: ${claimText(claim)} is taken twice`);
    before.set(claim.port, [...others, claim]);
  }
  return over;
}

/** Describes why a demand is not valid, so that it must not be added up. */
export function ledgerError({ cpuMillis, memoryBytes }: Demand): string | undefined {
  if (!Number.isSafeInteger(cpuMillis) || cpuMillis < 0) return `cpu ${cpuMillis / 1000} cannot be accounted for`;
  if (!Number.isSafeInteger(memoryBytes) || memoryBytes < 0) return `memory ${memoryBytes} cannot be accounted for`;
  return undefined;
}
