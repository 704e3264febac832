/** Tasks as data: records, events, and the pure decisions on them. */
export type { Action, ActionType } from "./action.ts";
export { agentsOf } from "./apply-event.ts";
export * from "./auto-update.ts";
export type { Change } from "./changes.ts";
export { changesBetween } from "./changes.ts";
export { type CheckKind, isStarting, renderFailedCheck } from "./checks.ts";
export { copiedRecord, copiedService } from "./copied-record.ts";
export { dependenciesIn } from "./dependencies.ts";
export type { ActionError, Observation, TaskEvent } from "./event.ts";
export { DEFAULT_OPTIONS, type DecisionContext, type EngineOptions, retryDelayMs } from "./host.ts";
export { isTaskId, PAUSE_NAME, revisionOf, runtimeId, taskId, taskIdOf } from "./ids.ts";
export {
  type Demand,
  demandOf,
  type HostCapacity,
  type Ledger,
  ledgerOf,
  overcommitments,
  shortages,
} from "./ledger.ts";
export { NETWORK } from "./network.ts";
export {
  adoptedRecord,
  type FoundIncarnation,
  type NewTask,
  newRecord,
  ROUTER_VOLUME,
  type SpecCopy,
  USERS,
  upgradeRecord,
} from "./new-record.ts";
export { currentPool, type PoolRecord } from "./pool.ts";
export { DEFAULT_QUEUE, type QueueDecision, type QueuePolicy, schedule } from "./queue.ts";
export { hasSucceeded, type Readiness, readinessOf } from "./readiness.ts";
export { type Reason, type ReasonCode, reason, renderReason } from "./reason.ts";
export { absorb, nextDeadline, type Reconciled, reconcile, reconcileAll } from "./reconcile.ts";
export * from "./record.ts";
export * from "./revision-images.ts";
export { advanceRollout, nextRolloutLook, pauseRollout, resumeRollout, watchedAgain } from "./rollout.ts";
export { type Begin, beginRollout } from "./rollout-begin.ts";
export { scaleRollout } from "./rollout-scale.ts";
export type { RolloutDecision, RolloutStep, RolloutTold, RolloutView } from "./rollout-steps.ts";
export {
  decideSchedule,
  nextLookMs,
  nextRunMs,
  runSpecs,
  runsOf,
  type ScheduleDecision,
  type ScheduledRun,
  type ScheduleState,
  scheduledAfter,
} from "./schedule.ts";
export * from "./service.ts";
export { proxyEvent, sharesProxy, works } from "./shared-proxy.ts";
export {
  CONTAINER_STATUSES,
  type ContainerStatus,
  type Desired,
  RESOURCE_STATUSES,
  type ResourceStatus,
  type Steady,
  TASK_STATUSES,
  type TaskStatus,
} from "./status.ts";
export { after, type Deadline, hasPassed, type Instant } from "./time.ts";
export { isInPlace } from "./update.ts";
export { DEFAULT_USERS, USERS_OF_A_TASK, type UserRange, UserRanges } from "./user-ranges.ts";
