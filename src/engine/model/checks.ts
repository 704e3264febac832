/** The checks of a running container: its postStart hook, startup check, liveness check and health check. Each has a state of its own. */
import type { ContainerSpec, HealthCheck, Hook } from "../spec/index.ts";
import { type ContainerRecord, type FailedCheck, type HealthRecord, specOf, type TaskRecord } from "./record.ts";
import { after, type Instant } from "./time.ts";

/** In this order each check depends on the ones before: liveness and health are not checked until the startup has succeeded. */
export const CHECK_KINDS = ["postStart", "startup", "liveness", "health"] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** The state of a check that was not run in this incarnation yet. */
export const UNKNOWN_HEALTH: HealthRecord = { status: "UNKNOWN", failures: 0, isChecking: false, nextCheck: null, output: "" };

/** A check, or a postStart hook, which is also applied as one. */
export type Check = HealthCheck & Pick<Hook, "sleep" | "commands">;

export type CheckStates = Pick<ContainerRecord, CheckKind>;

/** The checks of a new incarnation. */
export function newChecks(spec: ContainerSpec | undefined): CheckStates {
  const states = CHECK_KINDS.filter((kind) => checkIn(spec, kind) !== undefined).map((kind) => [kind, UNKNOWN_HEALTH] as const);
  return { health: null, ...Object.fromEntries(states) };
}

/** The definition of a check. For health, the task file takes precedence over the image, whose check it can change or leave out. undefined: there is no such check. */
export function checkOf(record: TaskRecord, name: string, kind: CheckKind): Check | undefined {
  const given = checkIn(specOf(record, name), kind);
  if (given !== undefined || kind !== "health") return given;
  const { imageHealthCheck: changes } = specOf(record, name) ?? {};
  const ofImage = record.containers.find((container) => container.name === name)?.image?.healthCheck ?? undefined;
  return changes === false ? undefined : ofImage && ({ ...ofImage, ...changes } as Check);
}

function checkIn(spec: ContainerSpec | undefined, kind: CheckKind): Check | undefined {
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

/** Whether the container was started, but its postStart hook or startup check has not succeeded yet. */
export function isStarting({ postStart, startup }: CheckStates): boolean {
  return [postStart, startup].some((one) => one && one.status !== "HEALTHY");
}

/** Whether the container is stopped because a check has finally failed. */
export function isFailedByCheck({ postStart, startup, liveness }: CheckStates): boolean {
  return [postStart, startup, liveness].some((one) => one?.status === "UNHEALTHY");
}

/** The check because of which this incarnation is started again; undefined: it has another cause. */
export function failedCheckOf(record: TaskRecord, container: ContainerRecord): FailedCheck | undefined {
  // An unhealthy container runs on unless its policy says otherwise.
  const ends = (kind: CheckKind) => kind !== "health" || specOf(record, container.name)?.restart?.unhealthy === true;
  const kind = CHECK_KINDS.find((one) => container[one]?.status === "UNHEALTHY" && ends(one));
  if (kind === undefined) return undefined;
  const { failures, output } = container[kind]!;
  return { kind, failures, output };
}

/** Such as "liveness check 3 times in a row". */
export function renderFailedCheck({ kind, failures }: Pick<FailedCheck, "kind" | "failures">): string {
  return `${kind === "postStart" ? "postStart hook" : `${kind} check`}${failures > 1 ? ` ${failures} times in a row` : ""}`;
}

/** Changes the states of the checks that the container has, and leaves out those it does not have. */
export function changeChecks(states: CheckStates, change: (state: HealthRecord) => HealthRecord): Partial<CheckStates> {
  return Object.fromEntries(CHECK_KINDS.flatMap((kind) => (states[kind] ? [[kind, change(states[kind])]] : [])));
}

/** Sets when the first checks of a container are due after its start. */
export function delayChecks(record: TaskRecord, container: ContainerRecord, at: Instant): Partial<CheckStates> {
  return Object.fromEntries(
    CHECK_KINDS.flatMap((kind) => {
      const state = container[kind];
      const delay = checkOf(record, container.name, kind)?.initialDelay;
      return state && delay ? [[kind, { ...state, nextCheck: after(at, delay) }]] : [];
    }),
  );
}
