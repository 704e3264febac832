/** Selects the actions that can start now, and marks each as in flight in the record. */
import type { Action } from "./action.ts";
import { changeContainer } from "./change-record.ts";
import { checkOf } from "./checks.ts";
import { cleanUp, removeLeftovers } from "./clean-up.ts";
import { unresolved } from "./dependencies.ts";
import { graceMs } from "./grace.ts";
import { checksDue } from "./health.ts";
import type { DecisionContext } from "./host.ts";
import { canJoinNetwork, isHeldByNetwork, releaseNetwork } from "./network.ts";
import { isHeldByPreStop, runPreStops } from "./pre-stop.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { actionTo, type ContainerStatus, hasReached, nextStatus } from "./status.ts";
import { stopsBefore } from "./stop-order.ts";
import { hasPassed, type Instant } from "./time.ts";
import { updateLimits } from "./update.ts";

/** A record, and the actions that were decided with it. */
export interface Decision {
  readonly record: TaskRecord;
  readonly actions: readonly Action[];
}

export function dispatch(record: TaskRecord, now: Instant, host: DecisionContext): Decision {
  const steps = [createResources, runPreStops, moveContainers, updateLimits, checkHealth, releaseNetwork, removeLeftovers, cleanUp];
  return steps.reduce<Decision>(
    (decided, step) => {
      const next = step(decided.record, now, host);
      return { record: next.record, actions: [...decided.actions, ...next.actions] };
    },
    { record, actions: [] },
  );
}

function createResources(record: TaskRecord): Decision {
  const isWanted = record.desired === "RUNNING" && record.admission === "admitted";
  const due = record.resources.filter(({ known, applied }) => isWanted && known === "NONE" && applied === null);
  return {
    record: { ...record, resources: record.resources.map((one) => (due.includes(one) ? { ...one, applied: "CREATED" } : one)) },
    actions: due.map(({ name }) => ({ type: "createResource", name })),
  };
}

function moveContainers(record: TaskRecord, now: Instant, host: DecisionContext): Decision {
  return record.containers.reduce<Decision>(
    (decided, container) => {
      if (container.applied !== null) return decided;
      const move = stopMove(decided.record, container, now, host) ?? forwardMove(decided.record, container, now, host);
      if (move === undefined) return decided;
      const changed = changeContainer(decided.record, container.name, { applied: move.target, isStrayStopped: isStray(container) });
      return {
        record: move.action.type === "pull" ? withPull(changed, container.name, now) : changed,
        actions: [...decided.actions, move.action],
      };
    },
    { record, actions: [] },
  );
}

function withPull(record: TaskRecord, name: string, now: Instant): TaskRecord {
  return specOf(record, name)?.image === undefined ? record : { ...record, pulls: record.pulls ?? { startedAt: now, stoppedAt: null } };
}

function isStray({ known, isUnsure, isStrayStopped }: ContainerRecord): boolean {
  return isStrayStopped || (known === "STOPPED" && isUnsure);
}

interface Move {
  readonly target: ContainerStatus;
  readonly action: Action;
}

function stopMove(record: TaskRecord, container: ContainerRecord, now: Instant, host: DecisionContext): Move | undefined {
  const { name, generation, runtimeId, known, stop } = container;
  const isThere = (hasReached(known, "CREATED") && known !== "STOPPED") || container.isUnsure;
  const isWanted = container.desired === "RUNNING" && !container.isRestartAsked && !container.lost;
  if (!isThere || isWanted) return undefined;
  if (stop.nextTry !== null && !hasPassed(stop.nextTry, now)) return undefined;
  if (isHeldByNetwork(record, container) || isHeldByPreStop(record, container) || stopsBefore(record, container, host).length > 0)
    return undefined;
  const spec = specOf(record, name);
  const signal = spec === undefined ? "SIGKILL" : (spec.stopSignal ?? container.image?.stopSignal ?? "SIGTERM");
  return {
    target: "STOPPED",
    action: { type: "stop", container: name, generation, runtimeId, signal, timeoutMs: graceMs(record, container, host) },
  };
}

function forwardMove(record: TaskRecord, container: ContainerRecord, now: Instant, host: DecisionContext): Move | undefined {
  const { name, generation, runtimeId, known } = container;
  const target = nextStatus(known);
  if (target === undefined || container.desired === "STOPPED" || container.isRestartAsked || record.admission !== "admitted")
    return undefined;
  if (container.restartAt !== null && !hasPassed(container.restartAt, now)) return undefined;
  if (!hasWhatItNeeds(record, container, target)) return undefined;
  const isUpfront = target === "PULLED" && host.options.pullUpfront;
  if (!isUpfront && unresolved(record, container, host, now).length > 0) return undefined;
  return { target, action: { type: actionTo(target), container: name, generation, runtimeId } };
}

/** Every container needs the cgroup; to be created also users and volumes, and to be started the network and the shared namespaces. */
function hasWhatItNeeds(record: TaskRecord, { type }: ContainerRecord, target: ContainerStatus): boolean {
  const { resources, containers } = record;
  const isCreated = (kind: string) => resources.every((one) => one.kind !== kind || one.known === "CREATED");
  if (target === "PULLED") return isCreated("cgroup");
  if (!isCreated("users") || !isCreated("volume")) return false;
  if (target === "CREATED") return true;
  if (type === "namespacePause") return canJoinNetwork(record);
  if (!isCreated("network")) return false;
  const pause = containers.find((one) => one.type === "namespacePause");
  return pause === undefined || hasReached(pause.known, pause.steady);
}

function checkHealth(record: TaskRecord, now: Instant): Decision {
  const due = record.containers.flatMap((container) => checksDue(container, now).map((kind) => ({ container, kind })));
  const checking = due.reduce(
    (state, { container, kind }) =>
      changeContainer(state, container.name, { [kind]: { ...container[kind]!, isChecking: true, nextCheck: null } }),
    record,
  );
  return {
    record: checking,
    actions: due.map(({ container: { name, generation, runtimeId }, kind }) => {
      return { type: "checkHealth", container: name, generation, runtimeId, kind, check: checkOf(record, name, kind)! };
    }),
  };
}
