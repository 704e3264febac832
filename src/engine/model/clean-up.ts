/** Decides what to remove: ended incarnations while the task runs, and everything once the task has been stopped for its retention. */
import type { Action } from "./action.ts";
import { leaveBehind } from "./change-record.ts";
import { isOver } from "./network.ts";
import type { TaskRecord } from "./record.ts";
import { hasPassed, type Instant } from "./time.ts";

interface Decision {
  readonly record: TaskRecord;
  readonly actions: readonly Action[];
}

export function removeLeftovers(record: TaskRecord, now: Instant): Decision {
  const due = record.leftovers.filter(({ isRemoving, nextTry }) => !isRemoving && (nextTry === null || hasPassed(nextTry, now)));
  return {
    record: { ...record, leftovers: record.leftovers.map((one) => (due.includes(one) ? { ...one, isRemoving: true } : one)) },
    actions: due.map(({ container, generation, runtimeId }) => ({ type: "remove", container, generation, runtimeId })),
  };
}

/**
 * Removes the ended containers of a task that is deleted, while its network is given back and what holds its namespaces still waits for that. undefined: it is too early, or
 * there is nothing that waits.
 */
function sweepEarly(record: TaskRecord, now: Instant): Decision | undefined {
  const { isDeleteAsked, isSweptEarly, isSwept, known } = record;
  const isDue = isDeleteAsked && !isSweptEarly && !isSwept && known !== "STOPPED" && isOver(record);
  const ended = record.containers.filter(({ type }) => type !== "namespacePause");
  if (!isDue || ended.some(({ isUnsure }) => isUnsure)) return undefined;
  return removeLeftovers(ended.reduce(leaveBehind, { ...record, isSweptEarly: true }), now);
}

/** Removes containers first, then resources, then the record. A deleted task waits neither for its retention nor for acknowledgements. */
export function cleanUp(record: TaskRecord, now: Instant): Decision {
  const { cleanup, isDeleteAsked, isSwept, sent, containers } = record;
  // A shared proxy waits for its next use.
  if (record.spec.start === "needed" && !isDeleteAsked && record.reason?.code !== "StoppedByUser") return { record, actions: [] };
  const early = sweepEarly(record, now);
  if (early !== undefined) return early;
  if (record.known !== "STOPPED" || cleanup === null || containers.some(({ applied }) => applied !== null)) return { record, actions: [] };
  const isReported = sent === "STOPPED" || hasPassed(cleanup.bound, now);
  if (!isDeleteAsked && !(isReported && hasPassed(cleanup.retained, now))) return { record, actions: [] };
  // Removing a container that the runtime does not know succeeds, so that it need not be recorded which containers were never created.
  const unswept = containers.filter(({ type }) => type === "namespacePause" || !record.isSweptEarly);
  if (!isSwept) return removeLeftovers(unswept.reduce(leaveBehind, { ...record, isSwept: true }), now);
  return record.leftovers.length > 0 ? { record, actions: [] } : removeResources(record, now);
}

function removeResources(record: TaskRecord, now: Instant): Decision {
  const left = record.resources.filter(({ known }) => known !== "REMOVED");
  if (left.length === 0) return { record, actions: [{ type: "forget" }] };
  const due = left.filter(({ applied, nextTry }) => applied === null && (nextTry === null || hasPassed(nextTry, now)));
  return {
    record: { ...record, resources: record.resources.map((one) => (due.includes(one) ? { ...one, applied: "REMOVED" } : one)) },
    actions: due.map(({ name }) => ({ type: "removeResource", name })),
  };
}
