/** Applies an event to the record, before decisions are made. */
import { applyBoot, renewed } from "./boot.ts";
import { changeContainer, containerOf, stopContainer, stopTask } from "./change-record.ts";
import { changeChecks, checkOf, delayChecks, UNKNOWN_HEALTH } from "./checks.ts";
import { endContainer } from "./ending.ts";
import type { TaskEvent } from "./event.ts";
import { applyHealth } from "./health.ts";
import { retryDelayMs } from "./host.ts";
import { PAUSE_NAME } from "./ids.ts";
import { applyPreStopped, preStopEnded } from "./pre-stop.ts";
import { type Reason, type ReasonCode, reason } from "./reason.ts";
import type { AgentRecord, ContainerRecord, ImageRecord, TaskRecord } from "./record.ts";
import { newIncarnation } from "./restart.ts";
import { type ContainerStatus, hasReached, isFurther } from "./status.ts";
import { after, type Instant } from "./time.ts";
import { applyRespec, applyUpdated } from "./update.ts";

export function applyEvent(record: TaskRecord, event: TaskEvent): TaskRecord {
  switch (event.type) {
    case "tick":
      return record;
    case "admitted":
      if (record.admission !== "waiting" || record.desired !== "RUNNING") return record;
      return { ...record, admission: "admitted", waiting: null, ...expiryOf(record, event.at) };
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
    case "pulling":
      return applyPulling(record, event);
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

/** The deadline that a task had before a reboot of the host stays. */
function expiryOf({ spec: { deadline }, expires }: TaskRecord, at: Instant): Pick<TaskRecord, "expires"> {
  if (deadline === undefined || expires !== undefined) return {};
  return { expires: { bootId: at.bootId, bootMs: at.bootMs + deadline, wallMs: at.wallMs + deadline } };
}

function askRestart(record: TaskRecord, name: string): TaskRecord {
  const container = containerOf(record, name);
  if (container === undefined || name === PAUSE_NAME || record.desired === "STOPPED") return record;
  if (container.known === "STOPPED") return newIncarnation(record, { ...container, isRestartByUser: true }, null);
  if (container.restartAt !== null) return changeContainer(record, name, { restartAt: null });
  if (container.known === "NONE" || container.known === "PULLED" || container.desired === "STOPPED") return record;
  return changeContainer(record, name, { isRestartAsked: true, isRestartByUser: true });
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

/** Ignored if the pull is no longer in flight. */
function applyPulling(record: TaskRecord, { container, generation, phase, size }: Extract<TaskEvent, { type: "pulling" }>): TaskRecord {
  const found = containerOf(record, container);
  if (found?.generation !== generation || found.applied !== "PULLED") return record;
  return changeContainer(record, container, { pull: phase, ...(size && { pullSize: size }) });
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

/** Applies what was observed of a container in the runtime, in normal operation or after a restart of the daemon. */
type Observed = Extract<TaskEvent, { type: "observed" | "lookedUp" }>;

/** Ignored if the event is about another incarnation. */
function applyObservation(record: TaskRecord, event: Observed): TaskRecord {
  const container = containerOf(record, event.container);
  if (container?.generation !== event.generation) return record;
  const { observation, at } = event;
  const isSettled = event.type === "lookedUp";
  switch (observation.state) {
    case "absent":
      return absent(record, container, event);
    case "created":
      return isSettled ? advanceSettled(record, container, event, "CREATED") : record;
    case "running":
      if (container.known === "STOPPED") return stray(record, container);
      return isSettled
        ? advanceSettled(record, container, event, "RUNNING")
        : advance(record, container, "RUNNING", observation.startedAt ?? at);
    case "lost":
      return lost(record, container, observation.message, isSettled);
    case "exited": {
      // endContainer reads from `applied` that a container whose start was in flight has run, so that it is cleared only afterwards.
      const ended = endContainer(record, container, observation.exit, at);
      return isSettled && containerOf(ended, container.name)!.generation === container.generation
        ? changeContainer(ended, container.name, { applied: null })
        : ended;
    }
  }
}

function advanceSettled(
  record: TaskRecord,
  container: ContainerRecord,
  { observation, at }: Observed,
  status: "CREATED" | "RUNNING",
): TaskRecord {
  const settled: ContainerRecord = { ...container, applied: null, isUnsure: false };
  const since = observation.state === "running" ? (observation.startedAt ?? at) : at;
  return advance(changeContainer(record, container.name, settled), settled, status, since);
}

function absent(record: TaskRecord, container: ContainerRecord, { type, at }: Observed): TaskRecord {
  const isThere = hasReached(container.known, "CREATED") && container.known !== "STOPPED";
  // The result of the action in flight is more reliable than this observation.
  if (type === "observed" && (container.applied !== null || !isThere)) return record;
  const settled: ContainerRecord = { ...container, applied: null, isUnsure: false };
  const changed = changeContainer(record, container.name, settled);
  if (!isThere) return changed;
  const why = reason("ContainerVanished", `container ${container.name} vanished: the runtime does not know it any longer`);
  // If a stop was in flight, it has succeeded.
  return endContainer(changed, settled, undefined, at, why);
}

/** The container is stopped, whatever is wanted: nobody can tell what becomes of it, or act on it. */
function lost(record: TaskRecord, container: ContainerRecord, message: string, isSettled: boolean): TaskRecord {
  // A stop that is in flight ends it.
  if (!isSettled && container.applied !== null) return record;
  return changeContainer(record, container.name, { applied: null, isUnsure: true, lost: message });
}

function stray(record: TaskRecord, container: ContainerRecord): TaskRecord {
  return container.isStrayStopped ? record : changeContainer(record, container.name, { isUnsure: true });
}

/** Applies the result of a container's action. */
type Result = Extract<TaskEvent, { type: "result" }>;

const FAILED: Readonly<Partial<Record<ContainerStatus, readonly [ReasonCode, string]>>> = {
  PULLED: ["PullFailed", "its root file system could not be provided"],
  CREATED: ["CreateFailed", "could not be created"],
  RUNNING: ["StartFailed", "could not be started"],
};

/** Ignored unless the result belongs to this incarnation and to the action in flight. */
function applyResult(record: TaskRecord, event: Result): TaskRecord {
  const container = containerOf(record, event.container);
  if (container?.generation !== event.generation || container.applied !== event.target) return record;
  const settled: ContainerRecord = { ...container, applied: null, ...(container.pull ? { pull: null, pullSize: null } : {}) };
  const changed = changeContainer(record, container.name, settled);
  if (event.error !== undefined)
    return event.target === "STOPPED" ? stopFailed(changed, settled, event) : stepFailed(changed, settled, event);
  if (event.target === "STOPPED") return endContainer(changed, settled, event.exit, event.at);
  if (event.image !== undefined) return pulled(changed, settled, event.image, event.at);
  return advance(changed, settled, event.target, event.at);
}

/** Records the image. From now on the health check of the image applies, if the task sets none. */
function pulled(record: TaskRecord, container: ContainerRecord, image: ImageRecord, at: Instant): TaskRecord {
  const advanced = changeContainer(advance(record, container, "PULLED", at), container.name, { image });
  const isChecked = container.health === null && checkOf(advanced, container.name, "health") !== undefined;
  const next = isChecked ? changeContainer(advanced, container.name, { health: UNKNOWN_HEALTH }) : advanced;
  return { ...next, pulls: record.pulls && { ...record.pulls, stoppedAt: at } };
}

/** Never moves the status backwards: a later status that was observed in the meantime stays. */
function advance(record: TaskRecord, container: ContainerRecord, status: ContainerStatus, at: Instant): TaskRecord {
  if (!isFurther(status, container.known)) return record;
  const isStart = isFurther(status, "CREATED") && container.known !== "RUNNING";
  return changeContainer(record, container.name, {
    known: status,
    blockedSince: null,
    ...(isStart ? { startedAt: at, stoppedAt: null, ...delayChecks(record, container, at) } : {}),
  });
}

function stepFailed(record: TaskRecord, container: ContainerRecord, { target, error, at }: Result): TaskRecord {
  const [code, text] = FAILED[target]!;
  const { message, exitStatus } = error!;
  const why: Reason = { ...reason(code, `container ${container.name} ${text}: ${message}`), ...(exitStatus && { exitStatus }) };
  const told = target === "PULLED" ? { ...record, pulls: record.pulls && { ...record.pulls, stoppedAt: at } } : record;
  const unsure = error!.isOutcomeUnknown ? changeContainer(told, container.name, { isUnsure: true }) : told;
  const stopped = stopContainer(unsure, container.name, why);
  return target === "PULLED" && error!.stops !== "container" ? stopTask(stopped, why) : stopped;
}

function stopFailed(record: TaskRecord, container: ContainerRecord, { error, at }: Result): TaskRecord {
  const failures = container.stop.failures + 1;
  // The reason of one whose records are lost is that, from its end on (ending.ts).
  const why = container.lost ? null : reason("StopFailed", `container ${container.name} could not be stopped: ${error!.message}`);
  return changeContainer(record, container.name, {
    stop: { failures, nextTry: after(at, retryDelayMs(failures)), error: error!.message },
    reason: container.reason ?? why,
  });
}

/** Ignored if the event is about an older incarnation. */
function applyAgent(record: TaskRecord, { container, generation, agent }: Extract<TaskEvent, { type: "agent" }>): TaskRecord {
  const found = containerOf(record, container);
  if (found?.generation !== generation) return record;
  const others = (found.agents ?? []).filter(({ name }) => name !== agent.name);
  return changeContainer(record, container, { agents: [...others, agent] });
}

/** A new daemon ends the agents that its predecessor has started. */
function fencedAgents({ agents }: ContainerRecord): Pick<ContainerRecord, "agents"> {
  return agents === undefined
    ? {}
    : { agents: agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "the daemon began anew"))) };
}

/** The agents as shown to users: none runs in a container that does not run. */
export function agentsOf({ agents = [], known }: ContainerRecord): readonly AgentRecord[] {
  return known === "STOPPED" ? agents.map((one) => (one.known === "STOPPED" ? one : stopped(one, "its container has ended"))) : agents;
}

function stopped(agent: AgentRecord, why: string): AgentRecord {
  return { ...agent, known: "STOPPED", pid: null, reason: why };
}
