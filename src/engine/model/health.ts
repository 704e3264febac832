/** Health checks: computes when the next one is due, and applies results. Checks never change the known status. */
import { changeContainer, containerOf, stopContainer } from "./change-record.ts";
import { CHECK_KINDS, type CheckKind, checkOf, isStarting, renderFailedCheck } from "./checks.ts";
import type { TaskEvent } from "./event.ts";
import { reason } from "./reason.ts";
import { type ContainerRecord, type HealthRecord, specOf, type TaskRecord } from "./record.ts";
import { runTimeMs } from "./restart.ts";
import { after, hasPassed, type Instant } from "./time.ts";

/** The checks that are due. Until postStart and startup have succeeded no other check runs; afterwards these two do not run any more. */
export function checksDue(container: ContainerRecord, now: Instant): CheckKind[] {
  const { known, desired, postStart, isRestartAsked } = container;
  const isUp = known === "RUNNING" || known === "RESOURCES_PROVISIONED";
  if (!isUp || desired !== "RUNNING" || isRestartAsked) return [];
  return CHECK_KINDS.filter((kind) => {
    const state = container[kind];
    if (!state || state.isChecking || (state.nextCheck !== null && !hasPassed(state.nextCheck, now))) return false;
    switch (kind) {
      case "postStart":
        return state.status === "UNKNOWN";
      case "startup":
        return state.status !== "HEALTHY" && (!postStart || postStart.status === "HEALTHY");
      default:
        return !isStarting(container);
    }
  });
}

type Health = Extract<TaskEvent, { type: "health" }>;

export function applyHealth(record: TaskRecord, event: Health): TaskRecord {
  const container = containerOf(record, event.container);
  const check = checkOf(record, event.container, event.check);
  const before = container?.[event.check];
  if (container === undefined || check === undefined || !before?.isChecking || container.generation !== event.generation) return record;
  // A container that is being stopped for its next start cannot answer any more.
  if (container.isRestartAsked) return changeContainer(record, container.name, { [event.check]: { ...before, isChecking: false } });
  const isEarly = runTimeMs(container, event.at) < check.startPeriod;
  const failures = event.isHealthy ? 0 : isEarly ? before.failures : before.failures + 1;
  const successes = event.isHealthy ? (before.successes ?? 0) + 1 : 0;
  const isHealthy = successes >= (check.successes ?? 1);
  const status = isHealthy ? "HEALTHY" : failures >= check.retries ? "UNHEALTHY" : before.status;
  const since = status === before.status ? before.sinceWallMs : event.at.wallMs;
  const state: HealthRecord = {
    status,
    ...(since === undefined ? {} : { sinceWallMs: since }),
    failures,
    // Successes are counted only if the check needs more than one.
    ...(check.successes === undefined ? {} : { successes }),
    isChecking: false,
    nextCheck: after(event.at, isEarly && status === "UNKNOWN" ? (check.startInterval ?? check.interval) : check.interval),
    output: event.output,
  };
  const changed = changeContainer(record, container.name, { [event.check]: state });
  return state.status === "UNHEALTHY" ? applyUnhealthy(changed, container, event.check, state) : changed;
}

/**
 * After a failed startup or liveness check the container is restarted, or stopped if its policy
 * allows no restart. An unhealthy container runs on unless its policy restarts it.
 */
function applyUnhealthy(record: TaskRecord, container: ContainerRecord, kind: CheckKind, { failures, output }: HealthRecord): TaskRecord {
  const { name, desired, restarts } = container;
  const policy = specOf(record, name)?.restart;
  const isEnough = policy?.maximumCount !== undefined && restarts >= policy.maximumCount;
  const isWanted = desired === "RUNNING" && record.desired === "RUNNING";
  const mayRestart = policy?.enabled === true && !isEnough && isWanted;
  if (kind === "health") return mayRestart && policy.unhealthy ? changeContainer(record, name, { isRestartAsked: true }) : record;
  if (mayRestart) return changeContainer(record, name, { isRestartAsked: true });
  const last = output.trim().split("\n").at(-1) ?? "";
  const how = `container ${name} has failed its ${renderFailedCheck({ kind, failures })}`;
  return isWanted ? stopContainer(record, name, reason("CheckFailed", last === "" ? how : `${how}: ${last}`)) : record;
}
