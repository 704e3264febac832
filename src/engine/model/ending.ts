/** Decides what happens to a container that has ended. */
import { changeContainer } from "./change-record.ts";
import { isFailedByCheck } from "./checks.ts";
import { type Reason, type ReasonCode, reason } from "./reason.ts";
import { type ContainerExit, type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { newIncarnation, restartByPolicy, restartsAfter } from "./restart.ts";
import type { Instant } from "./time.ts";

/** The exit status of a container whose end was not observed. */
function unknownExit(now: Instant): ContainerExit {
  return { code: null, signal: null, oomKilled: false, unknown: true, endedWallMs: now.wallMs };
}

/** Records an end after which the cgroup is empty. `exit` undefined: it was not observed. `why` takes precedence over the reason derived from the exit status. */
export function endContainer(
  record: TaskRecord,
  container: ContainerRecord,
  exit: ContainerExit | undefined,
  now: Instant,
  why?: Reason,
): TaskRecord {
  // The container had already ended, and a process that was found in it later is gone now. It need not be stopped again.
  if (container.known === "STOPPED")
    return mergeExit(
      changeContainer(record, container.name, { isUnsure: false, ...(container.lost ? { lost: null } : {}) }),
      container,
      exit,
    );
  const hasRun = container.startedAt?.bootId !== undefined || container.applied === "RUNNING";
  const isOwnEnd = container.desired === "RUNNING" && record.desired === "RUNNING";
  // If the program never ran there is no exit code of it, even if the process that was about to execute it had one.
  const found = hasRun ? (exit ?? unknownExit(now)) : null;
  const ended: ContainerRecord = {
    ...container,
    exit: found,
    lastRun: null,
    startedAt: container.startedAt ?? (hasRun ? now : null),
    stoppedAt: now,
    isUnsure: false,
    ...(container.lost ? { lost: null } : {}),
    update: null,
  };
  const changed = changeContainer(record, container.name, ended);
  const policy = specOf(record, container.name)?.restart;
  // A container that was stopped because of a failed check waits for its restart like one that ended by itself.
  const isForHealth = isFailedByCheck(container) || (policy?.unhealthy === true && container.health?.status === "UNHEALTHY");
  if (isOwnEnd && container.isRestartAsked)
    return isForHealth && policy !== undefined ? restartByPolicy(changed, ended, policy, now) : newIncarnation(changed, ended, null);
  if (isOwnEnd && found !== null && policy !== undefined && restartsAfter(policy, ended, found, now)) {
    return restartByPolicy(changed, ended, policy, now);
  }
  return changeContainer(changed, container.name, {
    desired: "STOPPED",
    known: "STOPPED",
    isRestartAsked: false,
    // Its end may be seen before the stop that brought it about has a result.
    reason: container.reason ?? lossOf(container) ?? why ?? exitReason(container.name, found, hasRun),
  });
}

/** Why a container ended whose records were lost; undefined: they were not. */
function lossOf({ name, lost, stop }: ContainerRecord): Reason | undefined {
  if (lost === undefined || lost === null) return undefined;
  const later = stop.failures === 0 ? "" : `; before that it could not be stopped: ${stop.error ?? "the error is unknown"}`;
  return reason("RecordsLost", `the records of container ${name} were lost, and what was left of it was stopped: ${lost}${later}`);
}

/** Reasons that say no more than that nobody has seen the end. */
const UNSEEN: readonly ReasonCode[] = ["ExitUnknown", "ContainerVanished"];

/** An observed exit status only replaces an unknown one. */
function mergeExit(record: TaskRecord, container: ContainerRecord, exit: ContainerExit | undefined): TaskRecord {
  if (exit === undefined || exit.unknown || container.exit?.unknown !== true) return record;
  // A reason that says why it was ended stays.
  const isUnseen = container.reason === null || UNSEEN.includes(container.reason.code);
  return changeContainer(record, container.name, {
    exit,
    ...(isUnseen ? { reason: exitReason(container.name, exit, true) } : {}),
  });
}

export function exitReason(name: string, exit: ContainerExit | null, hasRun: boolean): Reason {
  if (exit === null) return reason("ContainerExited", `container ${name} ${hasRun ? "ended" : "never ran"}`);
  if (exit.unknown) return reason("ExitUnknown", `container ${name} has ended with an unknown status`);
  const how = exit.signal === null ? `exited with ${exit.code}` : `was killed by signal ${exit.signal}`;
  const cause = exit.oomKilled ? reason("OutOfMemory", "the kernel killed it for memory") : undefined;
  return reason("ContainerExited", `container ${name} ${how}`, cause);
}
