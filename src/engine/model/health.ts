/** Health checks: when the next one is due, and what its result means. They never change the known status. */
import type { HealthCheck } from "../spec/index.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import { type ContainerRecord, type HealthRecord, specOf, type TaskRecord } from "./record.ts";
import { runTimeMs } from "./restart.ts";
import { after, hasPassed, type Instant } from "./time.ts";

export function isCheckDue({ health, known, desired }: ContainerRecord, now: Instant): boolean {
  const isUp = known === "RUNNING" || known === "RESOURCES_PROVISIONED";
  if (health === null || !isUp || desired !== "RUNNING" || health.isChecking) return false;
  return health.nextCheck === null || hasPassed(health.nextCheck, now);
}

export function applyHealth(record: TaskRecord, event: Extract<TaskEvent, { type: "health" }>, check: HealthCheck | undefined): TaskRecord {
  const container = containerOf(record, event.container);
  if (check === undefined || container?.health?.isChecking !== true || container.generation !== event.generation) return record;
  const isEarly = runTimeMs(container, event.at) < check.startPeriod;
  const failures = event.isHealthy ? 0 : isEarly ? container.health.failures : container.health.failures + 1;
  const health: HealthRecord = {
    status: event.isHealthy ? "HEALTHY" : failures >= check.retries ? "UNHEALTHY" : container.health.status,
    failures,
    isChecking: false,
    nextCheck: after(event.at, check.interval),
    output: event.output,
  };
  const isToRestart = health.status === "UNHEALTHY" && mayRestart(record, container);
  return changeContainer(record, container.name, { health, ...(isToRestart ? { isRestartAsked: true } : {}) });
}

/** What is not healthy goes on, unless its policy says otherwise. */
function mayRestart(record: TaskRecord, { name, desired, restarts }: ContainerRecord): boolean {
  const policy = specOf(record, name)?.restart;
  const isEnough = policy?.maximumCount !== undefined && restarts >= policy.maximumCount;
  return policy?.enabled === true && policy.unhealthy && !isEnough && desired === "RUNNING" && record.desired === "RUNNING";
}
