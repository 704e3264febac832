/**
 * Decides about one task: how events change its record, and which actions follow. Pure: it uses no clock, no random numbers, and no input or output. The engine
 * stores the record, the actions and the changes in one transaction before it performs the actions.
 */
import { applyEvent } from "./apply-event.ts";
import { type Change, changesBetween } from "./changes.ts";
import { CHECK_KINDS } from "./checks.ts";
import { dependencyDeadlines } from "./dependencies.ts";
import { type Decision, dispatch } from "./dispatch.ts";
import type { TaskEvent } from "./event.ts";
import type { DecisionContext } from "./host.ts";
import type { TaskRecord } from "./record.ts";
import { settle } from "./settle.ts";
import { type Deadline, hasPassed, type Instant } from "./time.ts";

export interface Reconciled extends Decision {
  /** Events for the journal, in order. */
  readonly changes: readonly Change[];
}

export function reconcile(record: TaskRecord, event: TaskEvent, host: DecisionContext): Reconciled {
  return reconcileAll(record, [event], host);
}

/** Applies an event and decides nothing: a later event does. For several tasks of which each is to see what has become of the others. */
export function absorb(record: TaskRecord, event: TaskEvent, host: DecisionContext): Reconciled {
  const applied = settle(applyEvent(record, event), event.at, host);
  return { record: applied, actions: [], changes: changesBetween(record, applied, host.options.stopTries) };
}

/** Applies the events of one turn in order, and decides once after the last. `events` must not be empty. */
export function reconcileAll(record: TaskRecord, events: readonly TaskEvent[], host: DecisionContext): Reconciled {
  const applied = events.reduce((state, event) => settle(applyEvent(state, event), event.at, host), record);
  const now = events.at(-1)!.at;
  const decided = dispatch(applied, now, host);
  return { ...decided, changes: changesBetween(record, decided.record, host.options.stopTries) };
}

/** The next deadline in this boot, without those that have passed, which were decided on already. null: there is none. */
export function nextDeadline(record: TaskRecord, now: Instant): Deadline | null {
  const all: (Deadline | null | undefined)[] = [
    ...record.containers.flatMap((one) => [
      one.restartAt,
      one.stop.nextTry,
      one.update?.nextTry,
      ...CHECK_KINDS.map((kind) => one[kind]?.nextCheck),
      ...dependencyDeadlines(record, one),
    ]),
    ...record.resources.map(({ nextTry }) => nextTry),
    ...record.leftovers.map(({ nextTry }) => nextTry),
    record.desired === "RUNNING" ? record.expires : null,
    record.cleanup?.retained,
    record.cleanup?.bound,
  ];
  return all.reduce<Deadline | null>((first, one) => {
    if (!one || hasPassed(one, now)) return first;
    return first === null || one.bootMs < first.bootMs ? one : first;
  }, null);
}
