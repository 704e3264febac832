/** Applies a reboot of the host: no process of the task has survived, whatever the record says. */
import { changeContainer, leaveBehind, stopTask } from "./change-record.ts";
import { changeChecks, UNKNOWN_HEALTH } from "./checks.ts";
import { exitReason } from "./ending.ts";
import type { TaskEvent } from "./event.ts";
import { runtimeId } from "./ids.ts";
import { newContainer, newResources } from "./new-record.ts";
import { reason } from "./reason.ts";
import { type ContainerExit, type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { hasReached } from "./status.ts";
import type { Instant } from "./time.ts";

type Booted = Extract<TaskEvent, { type: "booted" }>;

const REBOOTED = reason("HostRebooted", "the host has booted anew");

export function applyBoot(record: TaskRecord, { at, exits }: Booted): TaskRecord {
  if (record.bootId === at.bootId) return record;
  const ended = record.containers.reduce((now, container) => endByBoot(now, container, at, exits[container.runtimeId]), {
    ...record,
    bootId: at.bootId,
  });
  const settled: TaskRecord = {
    ...ended,
    // Deadlines of the earlier boot mean nothing on the new clock. The retention starts again.
    cleanup: null,
    // The clocks of two boots have nothing in common but the time of the day.
    ...(ended.expires === undefined ? {} : { expires: moved(ended.expires, at, record.spec.deadline) }),
    resources: ended.resources.map((one) => ({ ...one, applied: null, nextTry: null })),
    leftovers: ended.leftovers.map((one) => ({ ...one, isRemoving: false, nextTry: null })),
  };
  if (settled.desired === "STOPPED" || record.spec.schedule !== undefined) return settled;
  if (record.spec.start === "once") return stopTask(settled, REBOOTED);
  return startAgain(settled, (one) => hasSucceeded(record, one));
}

/** Not later than a deadline that begins now: the clock may have been wrong before, and was set back since. @param most milliseconds */
function moved(expires: Instant, at: Instant, most = Infinity): Instant {
  const left = Math.min(most, Math.max(0, expires.wallMs - at.wallMs));
  return { ...at, bootMs: at.bootMs + left, wallMs: Math.min(expires.wallMs, at.wallMs + left) };
}

/** The task waits to be started anew. Its containers are made again, and what is left of them is removed. */
export function renewed(record: TaskRecord): TaskRecord {
  if (record.known !== "STOPPED" || record.isDeleteAsked) return record;
  const { expires: _, ...rest } = record;
  const left = record.containers.reduce(leaveBehind, rest as TaskRecord);
  return startAgain({ ...left, desired: "RUNNING", isSwept: false }, () => false);
}

/** Without an exit record on disk the exit status is unknown. */
function endByBoot(record: TaskRecord, container: ContainerRecord, at: Instant, exit: ContainerExit | undefined): TaskRecord {
  const settled = {
    applied: null,
    restartAt: null,
    isRestartAsked: false,
    blockedSince: null,
    isUnsure: false,
    ...(container.lost ? { lost: null } : {}),
    update: null,
    stop: { failures: 0, nextTry: null },
  };
  if (container.known === "STOPPED") return changeContainer(record, container.name, settled);
  const wasThere = hasReached(container.known, "CREATED") || container.applied !== null || container.isUnsure;
  const gone = changeContainer(record, container.name, {
    ...settled,
    desired: "STOPPED",
    known: "STOPPED",
    stoppedAt: at,
    exit: exit ?? null,
    reason:
      exit === undefined
        ? reason("HostRebooted", `container ${container.name} ended with the host`)
        : exitReason(container.name, exit, true),
    ...changeChecks(container, (state) => ({ ...state, isChecking: false, nextCheck: null })),
  });
  return wasThere ? leaveBehind(gone, container) : gone;
}

/** Starts all containers again, except those that have ended for good. */
function startAgain(record: TaskRecord, isDone: (one: ContainerRecord) => boolean): TaskRecord {
  return {
    ...record,
    generation: record.generation + 1,
    known: "NONE",
    sent: null,
    admission: "waiting",
    waiting: null,
    reason: null,
    stoppedAt: null,
    cleanup: null,
    resources: newResources(record.spec, record.cgroup),
    network: null,
    containers: record.containers.map((one) => (isDone(one) ? one : again(record, one))),
    pulls: null,
  };
}

function hasSucceeded(record: TaskRecord, { name, exit, essential }: ContainerRecord): boolean {
  return !essential && exit?.code === 0 && specOf(record, name)?.restart?.enabled !== true;
}

function again(record: TaskRecord, container: ContainerRecord): ContainerRecord {
  const { id } = record;
  const { name, type, essential, generation, restarts, image } = container;
  const next = generation + 1;
  return {
    ...newContainer(id, { name, type, essential, checks: { health: null, ...changeChecks(container, () => UNKNOWN_HEALTH) } }, next),
    runtimeId: runtimeId(id, name, next),
    restarts,
    // The container gets the image it had before the reboot, if that still exists.
    image,
  };
}
