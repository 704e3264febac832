/** Updates in place: gives running containers new limits if the new spec differs in nothing else. */
import { type ContainerSpec, canonicalJson, type TaskSpec } from "../spec/index.ts";
import type { Action } from "./action.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import { retryDelayMs } from "./host.ts";
import { type ContainerRecord, specOf, type TaskRecord, type UpdateRecord } from "./record.ts";
import { hasReached } from "./status.ts";
import { after, hasPassed, type Instant } from "./time.ts";

const LIMITS = ["cpus", "cpuShares", "memory", "memoryReservation", "pids"] as const satisfies readonly (keyof ContainerSpec)[];

/**
 * Whether a running task can get the second spec: only annotations and limits of containers differ, and no limit is removed. Other runtimes may not change limits: a
 * virtual machine does not grow.
 */
export function isInPlace(before: TaskSpec, now: TaskSpec): boolean {
  // What runs already is not touched: the next run is as the new schedule says.
  if (before.schedule !== undefined && now.schedule !== undefined) return true;
  if (before.schedule !== undefined || now.schedule !== undefined) return false;
  if (now.runtime !== undefined && !isSameLimits(before, now)) return false;
  return canonicalJson(withoutLimits(before)) === canonicalJson(withoutLimits(now)) && now.containers.every(keepsLimits(before));
}

function isSameLimits(before: TaskSpec, now: TaskSpec): boolean {
  return now.containers.every((container, index) => LIMITS.every((limit) => before.containers[index]?.[limit] === container[limit]));
}

function withoutLimits(spec: TaskSpec): unknown {
  const blank = Object.fromEntries(LIMITS.map((name) => [name, undefined]));
  return { ...spec, annotations: undefined, containers: spec.containers.map((container) => ({ ...container, ...blank })) };
}

/** A limit that the new spec does not set would keep its old value in the kernel, so that it cannot be removed in place. */
function keepsLimits({ containers }: TaskSpec) {
  return (now: ContainerSpec, index: number): boolean =>
    LIMITS.every((limit) => containers[index]?.[limit] === undefined || now[limit] !== undefined);
}

export function applyRespec(record: TaskRecord, { spec, digest }: Extract<TaskEvent, { type: "respec" }>): TaskRecord {
  const next: TaskRecord = { ...record, spec, digest, previous: { spec: record.spec, digest: record.digest } };
  return next.containers.filter(isMade).reduce((state, { name }) => {
    const isSame = LIMITS.every((limit) => specOf(record, name)?.[limit] === specOf(next, name)?.[limit]);
    return isSame ? state : changeContainer(state, name, { update: due(containerOf(state, name)!) });
  }, next);
}

/** Only one update of a container is in flight at a time: of two, the older one might take effect last. */
function due({ update }: ContainerRecord): UpdateRecord {
  const isInFlight = update?.isInFlight === true;
  return { isInFlight, isStale: isInFlight, failures: 0, nextTry: null, error: null };
}

/** Whether the container may have been created with the old limits. */
function isMade({ known, applied }: ContainerRecord): boolean {
  return known !== "STOPPED" && (hasReached(known, "CREATED") || applied === "CREATED");
}

export function applyUpdated(
  record: TaskRecord,
  { container: name, generation, error, at }: Extract<TaskEvent, { type: "updated" }>,
): TaskRecord {
  const container = containerOf(record, name);
  if (container?.generation !== generation || container.update?.isInFlight !== true) return record;
  if (container.update.isStale)
    return changeContainer(record, name, { update: { ...container.update, isInFlight: false, isStale: false } });
  if (error === undefined) return changeContainer(record, name, { update: null });
  const failures = container.update.failures + 1;
  return changeContainer(record, name, {
    update: { isInFlight: false, isStale: false, failures, nextTry: after(at, retryDelayMs(failures)), error: error.message },
  });
}

/** Starts updates of containers that run and have no other action in flight. */
export function updateLimits(record: TaskRecord, now: Instant): { readonly record: TaskRecord; readonly actions: readonly Action[] } {
  const due = record.containers.filter(
    ({ update, known, desired, applied }) =>
      update !== null &&
      !update.isInFlight &&
      (update.nextTry === null || hasPassed(update.nextTry, now)) &&
      (known === "RUNNING" || known === "RESOURCES_PROVISIONED") &&
      desired === "RUNNING" &&
      applied === null,
  );
  return {
    record: due.reduce((state, { name, update }) => changeContainer(state, name, { update: { ...update!, isInFlight: true } }), record),
    actions: due.map(({ name, generation, runtimeId }) => ({ type: "update", container: name, generation, runtimeId })),
  };
}
