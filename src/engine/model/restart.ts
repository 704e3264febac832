/** Decides whether and when an ended container is restarted, and makes its next incarnation. */
import type { RestartPolicy } from "../spec/index.ts";
import { changeContainer, leaveBehind } from "./change-record.ts";
import { changeChecks, failedCheckOf, UNKNOWN_HEALTH } from "./checks.ts";
import { runtimeId } from "./ids.ts";
import { type ContainerExit, type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { after, type Deadline, type Instant } from "./time.ts";

/** How long the container has run, in milliseconds; 0 if it was started in an earlier boot. */
export function runTimeMs({ startedAt }: ContainerRecord, now: Instant): number {
  return startedAt?.bootId === now.bootId ? Math.max(0, now.bootMs - startedAt.bootMs) : 0;
}

/** What Kubernetes shows for an end that nobody saw. */
const UNKNOWN_CODE = 137;

/** An unknown exit status counts as a failure. */
export function restartsAfter(policy: RestartPolicy | undefined, container: ContainerRecord, exit: ContainerExit, now: Instant): boolean {
  if (policy?.enabled !== true) return false;
  if (policy.ignoredExitCodes.includes(exit.code ?? UNKNOWN_CODE)) return false;
  if (policy.maximumCount !== undefined && container.restarts >= policy.maximumCount) return false;
  return runTimeMs(container, now) >= policy.minimumRunTime;
}

/** The delay in milliseconds, which doubles with each consecutive short run. */
function restartDelayMs({ backoff }: RestartPolicy, shortRuns: number): number {
  return Math.min(backoff.initial * 2 ** Math.min(shortRuns, 40), backoff.maximum);
}

/** Makes the next incarnation, which has an image but no container yet. The old incarnation is left to be removed. */
export function newIncarnation(record: TaskRecord, container: ContainerRecord, restartAt: Deadline | null): TaskRecord {
  const generation = container.generation + 1;
  return changeContainer(leaveBehind(record, container), container.name, {
    generation,
    runtimeId: runtimeId(record.id, container.name, generation),
    desired: "RUNNING",
    // A container that was adopted without its record must pull its image again, because it is not known.
    known: container.image === null && specOf(record, container.name)?.image !== undefined ? "NONE" : "PULLED",
    applied: null,
    isUnsure: false,
    ...(container.lost ? { lost: null } : {}),
    lastRun: lastRunOf(record, container),
    reason: null,
    restartAt,
    isRestartAsked: false,
    restarts: container.restarts + 1,
    ...(container.isRestartByUser ? { askedRestarts: (container.askedRestarts ?? 0) + 1, isRestartByUser: false } : {}),
    blockedSince: null,
    stop: { failures: 0, nextTry: null },
    preStop: "waiting",
    ...(container.preStopRun ? { preStopRun: null } : {}),
    isStrayStopped: false,
    // The new incarnation is created with the current limits.
    update: null,
    ...changeChecks(container, () => UNKNOWN_HEALTH),
    ...(container.agents === undefined ? {} : { agents: [] }),
  });
}

/** If the container has not run since its last restart, its exit status is that of a run before. */
function lastRunOf(record: TaskRecord, container: ContainerRecord): NonNullable<ContainerRecord["lastRun"]> | null {
  const { exit, lastRun, runtimeId: id, startedAt } = container;
  if (exit === null || lastRun) return exit && lastRun!;
  const failedCheck = failedCheckOf(record, container);
  return { runtimeId: id, startedWallMs: startedAt?.wallMs ?? null, ...(failedCheck && { failedCheck }) };
}

export function restartByPolicy(record: TaskRecord, container: ContainerRecord, policy: RestartPolicy, now: Instant): TaskRecord {
  const isLong = runTimeMs(container, now) >= policy.backoff.resetAfter;
  const shortRuns = isLong ? 0 : container.shortRuns;
  const next = newIncarnation(record, container, after(now, restartDelayMs(policy, shortRuns)));
  return changeContainer(next, container.name, { shortRuns: shortRuns + 1 });
}
