/** Decides what happens to a container that has ended. */
import { changeContainer } from "./change-record.ts";
import { isFailedByCheck } from "./checks.ts";
import { type Reason, reason } from "./reason.ts";
import { type ContainerExit, type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { newIncarnation, restartByPolicy, restartsAfter } from "./restart.ts";
import type { Instant } from "./time.ts";

/** The exit of a container whose end was not observed. */
export function unknownExit(now: Instant): ContainerExit {
  return { code: null, signal: null, oomKilled: false, unknown: true, endedWallMs: now.wallMs };
}

/** Its cgroup is empty. `exit` undefined: nobody saw how it ended. `why` overrides the reason that the exit gives. */
export function endContainer(
  record: TaskRecord,
  container: ContainerRecord,
  exit: ContainerExit | undefined,
  now: Instant,
  why?: Reason,
): TaskRecord {
  // A stray process of it was stopped: it is not stopped again.
  if (container.known === "STOPPED") return mergeExit(changeContainer(record, container.name, { isUnsure: false }), container, exit);
  const hasRun = container.startedAt?.bootId !== undefined || container.applied === "RUNNING";
  const isOwnEnd = container.desired === "RUNNING" && record.desired === "RUNNING";
  // What never ran has no exit code, whatever ended the process that waited to become it.
  const found = hasRun ? (exit ?? unknownExit(now)) : null;
  const ended: ContainerRecord = {
    ...container,
    exit: found,
    startedAt: container.startedAt ?? (hasRun ? now : null),
    stoppedAt: now,
    isUnsure: false,
    update: null,
  };
  const changed = changeContainer(record, container.name, ended);
  const policy = specOf(record, container.name)?.restart;
  // Who was stopped for its health waits as one that has ended by itself.
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
    reason: container.reason ?? why ?? exitReason(container.name, found, hasRun),
  });
}

/** What was seen takes the place of what was unknown, and of nothing else. */
function mergeExit(record: TaskRecord, container: ContainerRecord, exit: ContainerExit | undefined): TaskRecord {
  if (exit === undefined || exit.unknown || container.exit?.unknown !== true) return record;
  return changeContainer(record, container.name, { exit, reason: exitReason(container.name, exit, true) });
}

export function exitReason(name: string, exit: ContainerExit | null, hasRun: boolean): Reason {
  if (exit === null) return reason("ContainerExited", `container ${name} ${hasRun ? "ended" : "never ran"}`);
  if (exit.unknown) return reason("ExitUnknown", `container ${name} has ended and nobody saw how`);
  const how = exit.signal === null ? `exited with ${exit.code}` : `was killed by signal ${exit.signal}`;
  const cause = exit.oomKilled ? reason("OutOfMemory", "the kernel killed it for memory") : undefined;
  return reason("ContainerExited", `container ${name} ${how}`, cause);
}
