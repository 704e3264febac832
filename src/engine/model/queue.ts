/**
 * Which waiting tasks may start. Strict order: the head holds back all behind it. With backfill, those that fit may overtake the head, but only so many and
 * for so long that it cannot starve.
 */
import type { TaskEvent } from "./event.ts";
import { consume, type Demand, demandOf, type HostCapacity, type Ledger, ledgerError, ledgerOf, shortages } from "./ledger.ts";
import type { TaskRecord } from "./record.ts";
import { after, hasPassed, type Instant } from "./time.ts";

export interface QueuePolicy {
  readonly order: "fifo" | "backfill";
  /** A task that is larger than the host: it waits until the host is larger, and holds nobody back; or it fails. */
  readonly tooLarge: "wait" | "refuse";
  /** A task that wants a port of the host which another one has: it waits for it, or it fails. */
  readonly portTaken: "wait" | "refuse";
}

export const DEFAULT_QUEUE: QueuePolicy = { order: "fifo", tooLarge: "wait", portTaken: "wait" };

/** How many may overtake the head, and for how long after the first of them has. */
export const MOST_OVERTAKING = 16;
export const LONGEST_OVERTAKING_MS = 60_000;

export interface QueueDecision {
  readonly task: string;
  readonly event: Extract<TaskEvent, { type: "admitted" | "waiting" | "refused" }>;
}

/**
 * Decides for every task that waits. `records` are all of the host, in the order in which they were applied. Call it after each change of a record that admits,
 * releases or adds one, and when the capacity changes: no task is left waiting that fits. Decisions that change nothing are left out.
 */
export function schedule(records: readonly TaskRecord[], capacity: HostCapacity, policy: QueuePolicy, now: Instant): QueueDecision[] {
  const line = new Line(ledgerOf(records, capacity), portsOf(records), policy, now);
  for (const [place, record] of records.entries()) {
    if (record.admission !== "waiting" || record.desired !== "RUNNING") continue;
    const before = predecessorOf(record, records.slice(0, place));
    if (before === undefined) line.decide(record);
    else line.wait(record, [`replaces: ${before.id} is being stopped`]);
  }
  return line.decisions();
}

/** A task in whose place it is, as long as that one has not ended and has to end first. Who waits for that holds back nobody else. */
function predecessorOf({ replaces, group, name }: TaskRecord, earlier: readonly TaskRecord[]): TaskRecord | undefined {
  if (replaces?.order !== "stopFirst") return undefined;
  return earlier.find((one) => one.group === group && one.name === name && one.known !== "STOPPED");
}

/** Which running task has which port. */
function portsOf(records: readonly TaskRecord[]): Map<string, string> {
  const admitted = records.filter(({ admission }) => admission === "admitted");
  return new Map(admitted.flatMap(({ id, spec }) => demandOf(spec).ports.map((port) => [port, id] as const)));
}

const NOTHING: Demand = { cpuMillis: 0, memoryBytes: 0, ports: [] };

class Line {
  #ledger: Ledger;
  readonly #ports: Map<string, string>;
  readonly #policy: QueuePolicy;
  readonly #now: Instant;
  /** The first that fits the host, but not now. */
  #head: TaskRecord | undefined;
  #overtaken: NonNullable<TaskRecord["waiting"]>["overtaken"] = null;
  readonly #decisions: QueueDecision[] = [];
  #headMissing: readonly string[] = [];

  constructor(ledger: Ledger, ports: Map<string, string>, policy: QueuePolicy, now: Instant) {
    this.#ledger = ledger;
    this.#ports = ports;
    this.#policy = policy;
    this.#now = now;
  }

  decide(record: TaskRecord): void {
    const demand = demandOf(record.spec);
    const never = shortages({ ...this.#ledger, used: NOTHING }, demand).map((one) => `${one}: more than the host has`);
    const error = ledgerError(demand) ?? (this.#policy.tooLarge === "refuse" ? never[0] : undefined) ?? this.#portError(demand);
    const missing = shortages(this.#ledger, demand);
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
    const taken = this.#policy.portTaken === "refuse" ? ports.find((port) => this.#ports.has(port)) : undefined;
    return taken && `port: ${taken} is taken by ${this.#ports.get(taken)}`;
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
    for (const port of demand.ports) this.#ports.set(port, record.id);
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
