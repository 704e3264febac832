/** The record of a task in a copy of a state directory. What the original runs is the original's: the copy has the task's spec and data, and nothing that runs. */
import { changeContainer, stopTask } from "./change-record.ts";
import { changeChecks } from "./checks.ts";
import { reason } from "./reason.ts";
import type { ContainerRecord, ResourceRecord, TaskRecord } from "./record.ts";
import { isActive, type ServiceRecord } from "./service.ts";
import type { Instant } from "./time.ts";

const COPIED = reason("StateCopied", "the state directory is a copy, and what ran belongs to the original");
const RANDOM = /[0-9a-f]{12}(?=(\.slice)?$)/;

/** @param random at least twelve hexadecimal digits that no other call gets, for the name of the task's cgroup: with the old name it would be the original's */
export function copiedRecord(record: TaskRecord, at: Instant, random: string): TaskRecord {
  const own = random.replaceAll("-", "").slice(-12);
  const copied: TaskRecord = {
    ...record,
    bootId: at.bootId,
    cgroup: record.cgroup?.replace(RANDOM, own) ?? null,
    cleanup: null,
    network: null,
    // Volumes are directories, which the copy has, too.
    resources: record.resources.map((one) => withoutAction(one.kind === "volume" ? one : { ...one, known: "REMOVED" })),
    leftovers: [],
  };
  return stopTask(
    record.containers.reduce((now, container) => endCopied(now, container, at), copied),
    COPIED,
  );
}

/** A rollout does not go on in the copy: it would start tasks there. */
export function copiedService(service: ServiceRecord): ServiceRecord {
  const { rollout } = service;
  return isActive(rollout) ? { ...service, rollout: { ...rollout, state: "paused", reason: COPIED } } : service;
}

function withoutAction({ error: _, ...one }: ResourceRecord): ResourceRecord {
  return { ...one, applied: null, failures: 0, nextTry: null };
}

function endCopied(record: TaskRecord, container: ContainerRecord, at: Instant): TaskRecord {
  const { name, known } = container;
  const settled: Partial<ContainerRecord> = {
    applied: null,
    restartAt: null,
    isRestartAsked: false,
    blockedSince: null,
    isUnsure: false,
    update: null,
    desired: "STOPPED",
    stop: { failures: 0, nextTry: null },
    ...(container.lost ? { lost: null } : {}),
  };
  if (known === "STOPPED") return changeContainer(record, name, settled);
  return changeContainer(record, name, {
    ...settled,
    known: "STOPPED",
    stoppedAt: at,
    exit: null,
    reason: COPIED,
    ...changeChecks(container, (state) => ({ ...state, isChecking: false, nextCheck: null })),
  });
}
