/** Selects the actions that can start now, and marks each as in flight in the record. */

import { dependencyTarget } from "../spec/index.ts";
import type { Action } from "./action.ts";
import { changeContainer, leaveBehind } from "./change-record.ts";
import { checkOf } from "./checks.ts";
import { dependenciesIn, type Place, unresolved } from "./dependencies.ts";
import { checksDue } from "./health.ts";
import type { DecisionContext } from "./host.ts";
import { canJoinNetwork, isHeldByNetwork, isOver, releaseNetwork } from "./network.ts";
import { graceMs, isHeldByPreStop, runPreStops } from "./pre-stop.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";
import { actionTo, type ContainerStatus, hasReached, nextStatus } from "./status.ts";
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
      const changed = changeContainer(decided.record, container.name, {
        ...{ applied: move.target, isStrayStopped: isStray(container) },
        // A daemon before has begun to pull it.
        ...(container.pull ? { pull: null, pullSize: null } : {}),
      });
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

// The order of stopping: containers stop before the containers on which they depend.

/**
 * The containers that must end before `container` may be stopped: all that depend on it, directly or indirectly, and are to stop as well. A dependent that keeps
 * running, or that cannot be stopped, holds nothing back. The pause container waits for all containers of its task.
 */
function stopsBefore(record: TaskRecord, container: ContainerRecord, { peers, replaced, options }: DecisionContext): Place[] {
  const all = [record, ...peers, ...replaced].flatMap((task) => task.containers.map((one): Place => ({ task, container: one })));
  const before =
    container.type === "namespacePause"
      ? all.filter((place) => place.task === record && place.container !== container)
      : dependentsOf({ task: record, container }, all);
  return before.filter(({ task, container: one }) => {
    // A restart stops in this order, too.
    const isStopping = task.desired === "STOPPED" || one.desired === "STOPPED" || one.isRestartAsked;
    return isStopping && one.known !== "STOPPED" && one.stop.failures < options.stopTries;
  });
}

function dependentsOf(of: Place, all: readonly Place[]): Place[] {
  const found = new Set<Place>();
  const open = [of];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { task, container } = next;
    for (const place of all) {
      if (found.has(place) || place.container === of.container || !dependsOn(place, task.name, container.name)) continue;
      found.add(place);
      open.push(place);
    }
  }
  return [...found];
}

function dependsOn({ task, container }: Place, name: string, target: string): boolean {
  return dependenciesIn(task, container.name).some((dependency) => {
    const named = dependencyTarget(task.name, dependency);
    return named.task === name && named.container === target;
  });
}

/** Decides what to remove: ended incarnations while the task runs, and everything once the task has been stopped for its retention. */
function removeLeftovers(record: TaskRecord, now: Instant): Decision {
  const due = record.leftovers.filter(({ isRemoving, nextTry }) => !isRemoving && (nextTry === null || hasPassed(nextTry, now)));
  return {
    record: { ...record, leftovers: record.leftovers.map((one) => (due.includes(one) ? { ...one, isRemoving: true } : one)) },
    actions: due.map(({ container, generation, runtimeId }) => ({ type: "remove", container, generation, runtimeId })),
  };
}

/**
 * Removes the ended containers of a task that is deleted, while its network is given back and what holds its namespaces still waits for that. undefined: it is too early, or
 * there is nothing that waits.
 */
function sweepEarly(record: TaskRecord, now: Instant): Decision | undefined {
  const { isDeleteAsked, isSweptEarly, isSwept, known } = record;
  const isDue = isDeleteAsked && !isSweptEarly && !isSwept && known !== "STOPPED" && isOver(record);
  const ended = record.containers.filter(({ type }) => type !== "namespacePause");
  if (!isDue || ended.some(({ isUnsure }) => isUnsure)) return undefined;
  return removeLeftovers(ended.reduce(leaveBehind, { ...record, isSweptEarly: true }), now);
}

/** Removes containers first, then resources, then the record. A deleted task waits neither for its retention nor for acknowledgements. */
function cleanUp(record: TaskRecord, now: Instant): Decision {
  const { cleanup, isDeleteAsked, isSwept, sent, containers, run } = record;
  // How many runs of a schedule are kept is a number, unless the run says a time.
  if (run !== undefined && record.spec.retention === undefined && !isDeleteAsked) return { record, actions: [] };
  // A shared proxy waits for its next use.
  if (record.spec.start === "needed" && !isDeleteAsked && record.reason?.code !== "StoppedByUser") return { record, actions: [] };
  const early = sweepEarly(record, now);
  if (early !== undefined) return early;
  if (record.known !== "STOPPED" || cleanup === null || containers.some(({ applied }) => applied !== null)) return { record, actions: [] };
  const isReported = sent === "STOPPED" || hasPassed(cleanup.bound, now);
  if (!isDeleteAsked && !(isReported && hasPassed(cleanup.retained, now))) return { record, actions: [] };
  // Removing a container that the runtime does not know succeeds, so that it need not be recorded which containers were never created.
  const unswept = containers.filter(({ type }) => type === "namespacePause" || !record.isSweptEarly);
  if (!isSwept && unswept.length > 0) return removeLeftovers(unswept.reduce(leaveBehind, { ...record, isSwept: true }), now);
  return record.leftovers.length > 0 ? { record, actions: [] } : removeResources(record, now);
}

function removeResources(record: TaskRecord, now: Instant): Decision {
  const left = record.resources.filter(({ known }) => known !== "REMOVED");
  if (left.length === 0) return { record, actions: [{ type: "forget" }] };
  const due = left.filter(({ applied, nextTry }) => applied === null && (nextTry === null || hasPassed(nextTry, now)));
  return {
    record: { ...record, resources: record.resources.map((one) => (due.includes(one) ? { ...one, applied: "REMOVED" } : one)) },
    actions: due.map(({ name }) => ({ type: "removeResource", name })),
  };
}
