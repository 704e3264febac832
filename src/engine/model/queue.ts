/**
 * Decides which waiting tasks may start. Without backfill they start strictly in order. With backfill, tasks that fit may overtake the first one, but their number
 * and the time are bounded, so that it cannot starve.
 */
import { collide } from "../spec/index.ts";
import type { TaskEvent } from "./event.ts";
import {
  consume,
  type Demand,
  demandOf,
  type HeldPort,
  type HostCapacity,
  type Ledger,
  ledgerError,
  ledgerOf,
  shortages,
  takenText,
} from "./ledger.ts";
import type { TaskRecord } from "./record.ts";
import { proxyWait } from "./shared-proxy.ts";
import { after, hasPassed, type Instant } from "./time.ts";

export interface QueuePolicy {
  readonly order: "fifo" | "backfill";
  /** A task larger than the host waits until the host is larger, without holding back others; or it is refused. */
  readonly tooLarge: "wait" | "refuse";
  /** A task that needs a host port which another task has waits for it, or is refused. */
  readonly portTaken: "wait" | "refuse";
}

export const DEFAULT_QUEUE: QueuePolicy = { order: "fifo", tooLarge: "wait", portTaken: "wait" };

/** How many tasks may overtake the first one, and for how long after the first of them did. */
const MOST_OVERTAKING = 16;
const LONGEST_OVERTAKING_MS = 60_000;

export interface QueueDecision {
  readonly task: string;
  readonly event: Extract<TaskEvent, { type: "admitted" | "waiting" | "refused" }>;
}

/**
 * Decides for every waiting task. `records` are all tasks of the host, in the order in which they were applied. Must be called whenever the capacity changes, and
 * whenever a change of a record admits, releases or adds a task, so that no task waits although it fits. Decisions that change nothing are left out.
 */
export function schedule(records: readonly TaskRecord[], capacity: HostCapacity, policy: QueuePolicy, now: Instant): QueueDecision[] {
  const line = new Line(ledgerOf(records, capacity), portsOf(records), policy, now);
  for (const [place, record] of records.entries()) {
    if (record.admission !== "waiting" || record.desired !== "RUNNING") continue;
    const before = predecessorOf(record, records.slice(0, place));
    const other = before === undefined ? proxyWait(record, records) : `replaces: ${before.id} is being stopped`;
    // A task that waits for another one holds back none.
    if (other === undefined) line.decide(record);
    else line.wait(record, [other]);
  }
  return line.decisions();
}

/** The task that this one replaces, if it has to end first and has not ended. A task that waits for this holds back no other. */
function predecessorOf({ replaces, group, name }: TaskRecord, earlier: readonly TaskRecord[]): TaskRecord | undefined {
  if (replaces?.order !== "stopFirst") return undefined;
  return earlier.find((one) => one.group === group && one.name === name && one.known !== "STOPPED");
}

/** The host ports of tasks that are admitted. */
function portsOf(records: readonly TaskRecord[]): HeldPort[] {
  const admitted = records.filter(({ admission }) => admission === "admitted");
  return admitted.flatMap((record) => heldBy(record, demandOf(record)));
}

function heldBy({ id }: TaskRecord, { ports }: Demand): HeldPort[] {
  return ports.map((port) => ({ ...port, task: id }));
}

const NOTHING: Demand = { cpuMillis: 0, memoryBytes: 0, ports: [] };

class Line {
  #ledger: Ledger;
  readonly #ports: HeldPort[];
  readonly #policy: QueuePolicy;
  readonly #now: Instant;
  /** The first task that fits the host in principle, but not now. */
  #head: TaskRecord | undefined;
  #overtaken: NonNullable<TaskRecord["waiting"]>["overtaken"] = null;
  readonly #decisions: QueueDecision[] = [];
  #headMissing: readonly string[] = [];

  constructor(ledger: Ledger, ports: HeldPort[], policy: QueuePolicy, now: Instant) {
    this.#ledger = ledger;
    this.#ports = ports;
    this.#policy = policy;
    this.#now = now;
  }

  decide(record: TaskRecord): void {
    const demand = demandOf(record);
    const never = shortages({ ...this.#ledger, used: NOTHING }, demand).map((one) => `${one}: more than the host has`);
    const error = ledgerError(demand) ?? (this.#policy.tooLarge === "refuse" ? never[0] : undefined) ?? this.#portError(demand);
    const missing = shortages(this.#ledger, demand, this.#ports);
    if (error !== undefined) this.#push(record, { type: "refused", at: this.#now, message: error });
    else if (never.length > 0) this.wait(record, never);
    else if (missing.length > 0) this.#stayBehind(record, missing);
    else if (this.#head === undefined) this.#admit(record, demand);
    else if (this.#mayOvertake()) {
      this.#overtaken = { count: (this.#overtaken?.count ?? 0) + 1, since: this.#overtaken?.since ?? this.#now };
      this.#admit(record, demand);
    } else this.wait(record, [`order: ${this.#head.id} is before it`]);
  }

  #portError({ ports }: Demand): string | undefined {
    if (this.#policy.portTaken !== "refuse") return undefined;
    const taken = ports.find((port) => this.#ports.some((one) => collide(one, port)));
    return taken && takenText(taken, this.#ports);
  }

  #stayBehind(record: TaskRecord, missing: readonly string[]): void {
    if (this.#head !== undefined) {
      this.wait(record, missing);
      return;
    }
    this.#head = record;
    this.#headMissing = missing;
    this.#overtaken = record.waiting?.overtaken ?? null;
  }

  #admit(record: TaskRecord, demand: Demand): void {
    this.#ledger = consume(this.#ledger, demand);
    this.#ports.push(...heldBy(record, demand));
    this.#push(record, { type: "admitted", at: this.#now });
  }

  #mayOvertake(): boolean {
    if (this.#policy.order === "fifo") return false;
    if (this.#overtaken === null) return true;
    const { count, since } = this.#overtaken;
    return count < MOST_OVERTAKING && !hasPassed(after(since, LONGEST_OVERTAKING_MS), this.#now);
  }

  wait(record: TaskRecord, missing: readonly string[], overtaken = record.waiting?.overtaken ?? null): void {
    const is = record.waiting;
    if (is !== null && String(is.missing) === String(missing) && is.overtaken?.count === overtaken?.count) return;
    this.#push(record, { type: "waiting", at: this.#now, missing, overtaken });
  }

  #push({ id }: TaskRecord, event: QueueDecision["event"]): void {
    this.#decisions.push({ task: id, event });
  }

  decisions(): QueueDecision[] {
    if (this.#head !== undefined) this.wait(this.#head, this.#headMissing, this.#overtaken);
    return this.#decisions;
  }
}
