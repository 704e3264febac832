/** Health checks: when the next one is due, and what its result means. They never change a status. */
import type { HealthCheck } from "../spec/index.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import type { ContainerRecord, HealthRecord, TaskRecord } from "./record.ts";
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
  return changeContainer(record, container.name, { health });
}
