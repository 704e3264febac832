/** Applies an event to the record, before decisions are made. */

import { applyAgent, fencedAgents } from "./agents.ts";
import { applyObservation } from "./apply-observation.ts";
import { applyResult } from "./apply-result.ts";
import { applyBoot, renewed } from "./boot.ts";
import { changeContainer, containerOf, stopTask } from "./change-record.ts";
import { changeChecks } from "./checks.ts";
import type { TaskEvent } from "./event.ts";
import { applyHealth } from "./health.ts";
import { retryDelayMs } from "./host.ts";
import { PAUSE_NAME } from "./ids.ts";
import { applyPreStopped, preStopEnded } from "./pre-stop.ts";
import { reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import { newIncarnation } from "./restart.ts";
import { after } from "./time.ts";
import { applyRespec, applyUpdated } from "./update.ts";

export function applyEvent(record: TaskRecord, event: TaskEvent): TaskRecord {
  switch (event.type) {
    case "tick":
      return record;
    case "admitted":
      return record.admission === "waiting" && record.desired === "RUNNING" ? { ...record, admission: "admitted", waiting: null } : record;
    case "waiting":
      return record.admission === "waiting"
        ? { ...record, waiting: { since: record.waiting?.since ?? event.at, missing: event.missing, overtaken: event.overtaken } }
        : record;
    case "refused":
      return stopTask(record, reason("LedgerError", event.message));
    case "stop":
      return stopTask(record, event.reason);
    case "renew":
      return renewed(record);
    case "delete":
      return stopTask(
        { ...record, isDeleteAsked: true, ...(event.volumes ? { areVolumesAsked: true } : {}) },
        event.reason ?? reason("StoppedByUser", "the task was deleted"),
      );
    case "respec":
      return applyRespec(record, event);
    case "updated":
      return applyUpdated(record, event);
    case "restart":
      return event.containers.reduce(askRestart, record);
    case "result":
      return applyResult(record, event);
    case "resource":
      return applyResource(record, event);
    case "removed":
      return applyRemoved(record, event);
    case "observed":
    case "lookedUp":
      return applyObservation(record, event);
    case "fenced":
      return applyFence(record, event);
    case "health":
      return applyHealth(record, event);
    case "agent":
      return applyAgent(record, event);
    case "preStopped":
      return applyPreStopped(record, event);
    case "booted":
      return applyBoot(record, event);
    case "acknowledged":
      return {
        ...record,
        sent: event.known,
        containers: record.containers.map((one) => ({ ...one, sent: event.containers[one.name] ?? one.sent })),
      };
  }
}

function askRestart(record: TaskRecord, name: string): TaskRecord {
  const container = containerOf(record, name);
  if (container === undefined || name === PAUSE_NAME || record.desired === "STOPPED") return record;
  if (container.known === "STOPPED") return newIncarnation(record, container, null);
  if (container.restartAt !== null) return changeContainer(record, name, { restartAt: null });
  if (container.known === "NONE" || container.known === "PULLED" || container.desired === "STOPPED") return record;
  return changeContainer(record, name, { isRestartAsked: true });
}

function applyResource(record: TaskRecord, { name, target, error, network, at }: Extract<TaskEvent, { type: "resource" }>): TaskRecord {
  const resource = record.resources.find((one) => one.name === name);
  if (resource?.applied !== target) return record;
  const failures = resource.failures + 1;
  const why = error !== undefined && target === "REMOVED" ? { error: error.message } : {};
  const changed: TaskRecord = {
    ...record,
    ...(resource.kind === "network" ? { network: network ?? null } : {}),
    resources: record.resources.map((one) => {
      if (one !== resource) return one;
      const { error: _, ...settled } = one;
      if (error === undefined) return { ...settled, known: target, applied: null, failures: 0, nextTry: null };
      return { ...settled, applied: null, failures, nextTry: after(at, retryDelayMs(failures)), ...why };
    }),
  };
  if (error === undefined || target === "REMOVED") return changed;
  return stopTask(changed, reason("ResourceFailed", `the resource ${name} could not be created: ${error.message}`));
}

function applyRemoved(record: TaskRecord, { container, generation, error, at }: Extract<TaskEvent, { type: "removed" }>): TaskRecord {
  const isIt = (one: TaskRecord["leftovers"][number]) => one.container === container && one.generation === generation;
  if (error === undefined) return { ...record, leftovers: record.leftovers.filter((one) => !isIt(one)) };
  return {
    ...record,
    leftovers: record.leftovers.map((one) =>
      isIt(one)
        ? {
            ...one,
            isRemoving: false,
            failures: one.failures + 1,
            nextTry: after(at, retryDelayMs(one.failures + 1)),
            error: error.message,
          }
        : one,
    ),
  };
}

function applyFence(record: TaskRecord, { at }: TaskEvent): TaskRecord {
  return {
    ...record,
    resources: record.resources.map((one) => ({ ...one, applied: null })),
    leftovers: record.leftovers.map((one) => ({ ...one, isRemoving: false })),
    containers: record.containers.map((one) => ({
      ...one,
      ...changeChecks(one, (state) => ({ ...state, isChecking: false })),
      ...fencedAgents(one),
      ...(one.preStop === "running" ? preStopEnded(one, at) : {}),
      update: one.update && { ...one.update, isInFlight: false, isStale: false },
    })),
  };
}
