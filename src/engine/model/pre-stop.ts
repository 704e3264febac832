/** The preStop hook of a container. It runs before any process of the task gets a signal, and at most once, even across restarts of the daemon. */
import type { Action } from "./action.ts";
import { changeContainer, containerOf } from "./change-record.ts";
import type { TaskEvent } from "./event.ts";
import { type ContainerRecord, specOf, type TaskRecord } from "./record.ts";

export function runPreStops(record: TaskRecord): { readonly record: TaskRecord; readonly actions: readonly Action[] } {
  const due = record.containers.filter((one) => one.preStop === "waiting" && isPending(record, one));
  return {
    record: due.reduce((state, { name }) => changeContainer(state, name, { preStop: "running" }), record),
    actions: due.map(({ name, generation, runtimeId }) => {
      const { command, timeout } = specOf(record, name)!.preStop!;
      return { type: "preStop", container: name, generation, runtimeId, command, timeoutMs: timeout };
    }),
  };
}

/** Whether the container's stop must wait for a preStop hook: its own, or any hook of the task if the whole task stops. */
export function isHeldByPreStop(record: TaskRecord, container: ContainerRecord): boolean {
  return isPending(record, container) || (record.desired === "STOPPED" && record.containers.some((one) => isPending(record, one)));
}

function isPending(record: TaskRecord, container: ContainerRecord): boolean {
  const { name, known, desired, isRestartAsked, preStop } = container;
  const isUp = known === "RUNNING" || known === "RESOURCES_PROVISIONED";
  return preStop !== "done" && isUp && (desired === "STOPPED" || isRestartAsked) && specOf(record, name)?.preStop !== undefined;
}

export function applyPreStopped(record: TaskRecord, event: Extract<TaskEvent, { type: "preStopped" }>): TaskRecord {
  const container = containerOf(record, event.container);
  return container?.generation === event.generation ? changeContainer(record, event.container, { preStop: "done" }) : record;
}
