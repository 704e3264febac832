/**
 * Applies consequences that need no action: the end of an essential container stops its task, a stopping task stops its containers, a container that was never
 * created counts as stopped once it should stop, and a container whose dependencies can never be satisfied is stopped.
 */
import { changeContainer, stopContainer, stopTask } from "./change-record.ts";
import { unresolved } from "./dependencies.ts";
import type { DecisionContext } from "./host.ts";
import { type Reason, reason } from "./reason.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { type ContainerStatus, hasReached, nextStatus, type Steady, TASK_STATUSES, type TaskStatus } from "./status.ts";
import { after, hasPassed, type Instant } from "./time.ts";

/** Repeats the steps until nothing changes. This terminates, because a step only sets desired statuses to STOPPED or moves known statuses forward. */
export function settle(record: TaskRecord, now: Instant, host: DecisionContext): TaskRecord {
  const next = STEPS.reduce((state, step) => step(state, now, host), record);
  return isSame(record, next) ? finish(next, now, host) : settle(next, now, host);
}

type Step = (record: TaskRecord, now: Instant, host: DecisionContext) => TaskRecord;

const STEPS: readonly Step[] = [stopForDeadline, stopForEssential, stopContainers, stopNeverCreated, giveUpDependents];

function isSame(before: TaskRecord, now: TaskRecord): boolean {
  return before.desired === now.desired && before.containers.every((one, at) => one === now.containers[at]);
}

function stopForDeadline(record: TaskRecord, now: Instant): TaskRecord {
  const { expires, desired, spec } = record;
  if (expires === undefined || desired === "STOPPED" || !hasPassed(expires, now)) return record;
  return stopTask(record, reason("DeadlineExceeded", `the task was active for longer than ${(spec.deadline ?? 0) / 1000} s`));
}

function stopForEssential(record: TaskRecord): TaskRecord {
  const ended = endingOf(record);
  if (ended === undefined || record.desired === "STOPPED") return record;
  const cause = reason("EssentialContainerExited", `essential container ${ended.name} ended`, ended.reason ?? undefined);
  return stopTask(record, cause);
}

function stopContainers(record: TaskRecord): TaskRecord {
  if (record.desired === "RUNNING") return record;
  const why = reason("TaskStopped", "task stopped", rootOf(record.reason));
  return record.containers.reduce((state, { name }) => stopContainer(state, name, why), record);
}

/** Containers do not repeat the whole chain if it came from one of them. */
function rootOf(of: Reason | null): Reason | undefined {
  return of?.code === "EssentialContainerExited" ? { code: of.code, text: of.text } : (of ?? undefined);
}

/** The runtime does not know these containers, so that there is nothing to stop. */
function stopNeverCreated(record: TaskRecord, now: Instant): TaskRecord {
  return record.containers.reduce((state, one) => {
    const isThere = hasReached(one.known, "CREATED") || one.applied !== null || one.isUnsure;
    return one.desired === "RUNNING" || isThere
      ? state
      : changeContainer(state, one.name, { known: "STOPPED", stoppedAt: now, blockedSince: null, reason: whyNever(record, one) });
  }, record);
}

/** Distinguishes a container whose pull was not finished from one whose pull has failed. */
function whyNever(record: TaskRecord, { name, image, known, reason: why }: ContainerRecord): Reason | null {
  const isMissing = known === "NONE" && image === null && specOf(record, name)?.image !== undefined;
  if (!isMissing || why?.code === "PullFailed" || why?.code === "StoppedBeforePull") return why;
  return reason("StoppedBeforePull", `container ${name} was stopped before its image was pulled`, why ?? undefined);
}

function giveUpDependents(record: TaskRecord, now: Instant, host: DecisionContext): TaskRecord {
  if (record.admission !== "admitted") return record;
  return record.containers.filter(isOnItsWay).reduce((state, one) => {
    const open = unresolved(state, one, host, now);
    const never = open.find((each) => each.never !== undefined)?.never;
    if (never !== undefined) {
      return stopContainer(state, one.name, reason("DependencyFailed", `container ${one.name} cannot start`, never));
    }
    const isBlocked = open.length > 0;
    if (isBlocked === (one.blockedSince !== null)) return state;
    return changeContainer(state, one.name, { blockedSince: isBlocked ? now : null });
  }, record);
}

/** The container still has steps to take, and no action is in flight. */
function isOnItsWay({ known, desired, applied }: ContainerRecord): boolean {
  return desired === "RUNNING" && applied === null && nextStatus(known) !== undefined;
}

/** Updates the status of the task. When it has ended, its share of the host is released and its retention starts. */
function finish(record: TaskRecord, now: Instant, { options }: DecisionContext): TaskRecord {
  const known = knownStatus(record);
  if (known !== "STOPPED") return known === record.known ? record : { ...record, known };
  const retention = record.spec.retention ?? options.retentionMs;
  return {
    ...record,
    known,
    desired: "STOPPED",
    reason: record.reason ?? reason("ContainerExited", "all containers ended"),
    admission: "released",
    waiting: null,
    stoppedAt: record.stoppedAt ?? now,
    cleanup: record.cleanup ?? { retained: after(now, retention), bound: after(now, Math.max(retention, options.reportBoundMs)) },
  };
}

// Computes the status of a task from its containers.

/** A container that has reached its steady status counts as RUNNING. */
function taskStatusOf(known: ContainerStatus, steady: Steady): TaskStatus {
  if (known === "STOPPED") return "STOPPED";
  if (hasReached(known, steady)) return "RUNNING";
  return hasReached(known, "CREATED") ? "CREATED" : "NONE";
}

/** The lowest status of the containers, and never lower than before. A task that is over keeps its status while some of its containers still run. */
function knownStatus({ known, desired, spec, containers }: TaskRecord): TaskStatus {
  if (spec.schedule !== undefined) return desired === "STOPPED" ? "STOPPED" : "NONE";
  const statuses = containers.map(({ known: one, steady }) => TASK_STATUSES.indexOf(taskStatusOf(one, steady)));
  const least = TASK_STATUSES[Math.min(...statuses)]!;
  const isEnding = endingOf({ spec, containers }) !== undefined && least !== "STOPPED";
  if (isEnding || TASK_STATUSES.indexOf(least) < TASK_STATUSES.indexOf(known)) return known;
  return least;
}

/** The container whose end ends the task; undefined: the task goes on. If several had to end, one that has failed. */
function endingOf({ spec, containers }: Pick<TaskRecord, "spec" | "containers">): ContainerRecord | undefined {
  const essential = containers.filter((one) => one.essential);
  const ended = essential.filter(({ known }) => known === "STOPPED");
  if (spec.ends !== "all") return ended[0];
  const holder = ended.find(({ type }) => type === "namespacePause");
  if (holder !== undefined) return holder;
  const isOver = essential.every(({ type, known }) => type === "namespacePause" || known === "STOPPED");
  return isOver ? (ended.find(({ exit }) => exit?.code !== 0) ?? ended.at(-1)) : undefined;
}
