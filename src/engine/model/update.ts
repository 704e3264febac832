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
/** Limits of all containers of the task together. */
const TASK_LIMITS = ["cpus", "memory", "pids"] as const satisfies readonly (keyof TaskSpec)[];

/**
 * Whether a running task can get the second spec: only annotations and limits differ, and no limit is removed. Other runtimes may not change limits: a
 * virtual machine does not grow.
 */
export function isInPlace(before: TaskSpec, now: TaskSpec): boolean {
  // What runs already is not touched: the next run is as the new schedule says.
  if (before.schedule !== undefined && now.schedule !== undefined) return true;
  if (before.schedule !== undefined || now.schedule !== undefined) return false;
  if (now.runtime !== undefined && !isSameLimits(before, now)) return false;
  return canonicalJson(withoutLimits(before)) === canonicalJson(withoutLimits(now)) && keepsLimits(before, now);
}

function isSameLimits(before: TaskSpec, now: TaskSpec): boolean {
  return isSameOfTask(before, now) && now.containers.every((container, index) => isSame(before.containers[index], container));
}

function isSameOfTask(before: TaskSpec, now: TaskSpec): boolean {
  return TASK_LIMITS.every((limit) => before[limit] === now[limit]);
}

function isSame(before: ContainerSpec | undefined, now: ContainerSpec | undefined): boolean {
  return LIMITS.every((limit) => before?.[limit] === now?.[limit]);
}

function withoutLimits(spec: TaskSpec): unknown {
  const blank = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, undefined]));
  const containers = spec.containers.map((container) => ({ ...container, ...blank(LIMITS) }));
  // How a task is replaced concerns no container.
  return { ...spec, ...blank(TASK_LIMITS), ...blank(["update", "rollback", "replica", "annotations"]), containers };
}

/** A limit that the new spec does not set would keep its old value in the kernel, so that it cannot be removed in place. */
function keepsLimits(before: TaskSpec, now: TaskSpec): boolean {
  const ofContainers = now.containers.every((container, index) =>
    LIMITS.every((limit) => before.containers[index]?.[limit] === undefined || container[limit] !== undefined),
  );
  return ofContainers && TASK_LIMITS.every((limit) => before[limit] === undefined || now[limit] !== undefined);
}

export function applyRespec(record: TaskRecord, { spec, digest }: Extract<TaskEvent, { type: "respec" }>): TaskRecord {
  const next: TaskRecord = { ...record, spec, digest, previous: { spec: record.spec, digest: record.digest } };
  // Limits of the task are written with those of its containers. What holds its namespaces has none.
  const isOfAll = !isSameOfTask(record.spec, spec);
  return next.containers.filter(isMade).reduce((state, { name }) => {
    const own = specOf(next, name);
    const isDue = own !== undefined && (isOfAll || !isSame(specOf(record, name), own));
    return isDue ? changeContainer(state, name, { update: due(containerOf(state, name)!) }) : state;
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
