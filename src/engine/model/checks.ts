/** What is looked at in a container that runs: its hook after the start, its start, its life and its health, each with a state of its own. */
import type { ContainerSpec, HealthCheck } from "../spec/index.ts";
import { type ContainerRecord, type HealthRecord, specOf, type TaskRecord } from "./record.ts";
import { after, type Instant } from "./time.ts";

/** In the order in which each needs the one before: what has not come through its start is not looked at otherwise. */
export const CHECK_KINDS = ["postStart", "startup", "liveness", "health"] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** Of an incarnation that has not been looked at yet. */
export const UNKNOWN_HEALTH: HealthRecord = { status: "UNKNOWN", failures: 0, isChecking: false, nextCheck: null, output: "" };

export type CheckStates = Pick<ContainerRecord, CheckKind>;

/** Of a new incarnation. */
export function newChecks(spec: ContainerSpec | undefined): CheckStates {
  const states = CHECK_KINDS.filter((kind) => checkIn(spec, kind) !== undefined).map((kind) => [kind, UNKNOWN_HEALTH] as const);
  return { health: null, ...Object.fromEntries(states) };
}

/** What it is looked at with. What the task says of its health counts, else its image. undefined: it is not looked at so. */
export function checkOf(record: TaskRecord, name: string, kind: CheckKind): HealthCheck | undefined {
  const given = checkIn(specOf(record, name), kind);
  if (given !== undefined || kind !== "health") return given;
  return record.containers.find((container) => container.name === name)?.image?.healthCheck ?? undefined;
}

function checkIn(spec: ContainerSpec | undefined, kind: CheckKind): HealthCheck | undefined {
  switch (kind) {
    case "postStart":
      return spec?.postStart && { ...spec.postStart, interval: 0, retries: 1, startPeriod: 0 };
    case "startup":
      return spec?.startupCheck;
    case "liveness":
      return spec?.livenessCheck;
    case "health":
      return spec?.healthCheck;
  }
}

/** It has begun, and its hook or its check of the start has not succeeded yet. */
export function isStarting({ postStart, startup }: CheckStates): boolean {
  return [postStart, startup].some((one) => one && one.status !== "HEALTHY");
}

/** It was, or is to be, stopped because a check has failed for good. */
export function isFailedByCheck({ postStart, startup, liveness }: CheckStates): boolean {
  return [postStart, startup, liveness].some((one) => one?.status === "UNHEALTHY");
}

/** Nothing of it is in flight any more; what is not given stays so. */
export function changeChecks(states: CheckStates, change: (state: HealthRecord) => HealthRecord): Partial<CheckStates> {
  return Object.fromEntries(CHECK_KINDS.flatMap((kind) => (states[kind] ? [[kind, change(states[kind])]] : [])));
}

/** It has just been started: the first checks are due after their delays. */
export function delayChecks(record: TaskRecord, container: ContainerRecord, at: Instant): Partial<CheckStates> {
  return Object.fromEntries(
    CHECK_KINDS.flatMap((kind) => {
      const state = container[kind];
      const delay = checkOf(record, container.name, kind)?.initialDelay;
      return state && delay ? [[kind, { ...state, nextCheck: after(at, delay) }]] : [];
    }),
  );
}
