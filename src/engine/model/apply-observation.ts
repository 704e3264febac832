/** Applies what was observed of a container in the runtime, in normal operation or after a restart of the daemon. */
import { advance } from "./apply-result.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import { endContainer } from "./ending.ts";
import type { TaskEvent } from "./event.ts";
import { reason } from "./reason.ts";
import type { ContainerRecord, TaskRecord } from "./record.ts";
import { hasReached } from "./status.ts";

type Observed = Extract<TaskEvent, { type: "observed" | "lookedUp" }>;

/** Ignored if the event is about another incarnation. */
export function applyObservation(record: TaskRecord, event: Observed): TaskRecord {
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
