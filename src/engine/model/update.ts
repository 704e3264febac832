/** Updates in place: new limits for running containers, when a new spec differs in nothing else. */
import { type ContainerSpec, canonicalJson, type TaskSpec } from "../spec/index.ts";
import type { Action } from "./action.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import { retryDelayMs } from "./host.ts";
import { type ContainerRecord, specOf, type TaskRecord, type UpdateRecord } from "./record.ts";
import { hasReached } from "./status.ts";
import { after, hasPassed, type Instant } from "./time.ts";

const LIMITS = ["cpus", "cpuShares", "memory", "memoryReservation", "pids"] as const satisfies readonly (keyof ContainerSpec)[];

/** Whether a running task of the first spec can be made one of the second: only limits of containers and annotations are different, and no limit is taken away. */
export function isInPlace(before: TaskSpec, now: TaskSpec): boolean {
  return canonicalJson(withoutLimits(before)) === canonicalJson(withoutLimits(now)) && now.containers.every(keepsLimits(before));
}

function withoutLimits(spec: TaskSpec): unknown {
  const blank = Object.fromEntries(LIMITS.map((name) => [name, undefined]));
  return { ...spec, annotations: undefined, containers: spec.containers.map((container) => ({ ...container, ...blank })) };
}

/** A limit that is no longer named stays as it is in the kernel. */
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

/** One at a time: of two in flight, the older one could be the last to act. */
function due({ update }: ContainerRecord): UpdateRecord {
  const isInFlight = update?.isInFlight === true;
  return { isInFlight, isStale: isInFlight, failures: 0, nextTry: null, error: null };
}

/** It may have the limits of before. */
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

/** The limits that may be changed now: of containers that run, and that nothing else is done to. */
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
