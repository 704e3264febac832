/**
 * Decides about one task: how events change its record, and which actions follow. Pure: no clock, no random ids, no input or output. The engine stores the
 * record, the actions and the changes in one transaction, and only then acts.
 */
import { applyEvent } from "./apply-event.ts";
import { type Change, changesBetween } from "./changes.ts";
import { type Decision, dispatch } from "./dispatch.ts";
import type { TaskEvent } from "./event.ts";
import type { BundleView } from "./host.ts";
import type { TaskRecord } from "./record.ts";
import { settle } from "./settle.ts";

export interface Reconciled extends Decision {
  /** Events for the journal, in order. */
  readonly changes: readonly Change[];
}

export function reconcile(record: TaskRecord, event: TaskEvent, host: BundleView): Reconciled {
  return reconcileAll(record, [event], host);
}

/** Events of one turn, in order: decided on once, after the last. `events` is not empty. */
export function reconcileAll(record: TaskRecord, events: readonly TaskEvent[], host: BundleView): Reconciled {
  const applied = events.reduce((state, event) => settle(applyEvent(state, event), event.at, host), record);
  const now = events.at(-1)!.at;
  const decided = dispatch(applied, now, host);
  return { ...decided, changes: changesBetween(record, decided.record, host.options.stopTries) };
}
