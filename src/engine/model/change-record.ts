/** Small changes of a record that several files use. */

import type { Reason } from "./reason.ts";
import type { ContainerRecord, Leftover, TaskRecord } from "./record.ts";

export function containerOf(record: TaskRecord, name: string): ContainerRecord | undefined {
  return record.containers.find((container) => container.name === name);
}

export function changeContainer(record: TaskRecord, name: string, change: Partial<ContainerRecord>): TaskRecord {
  return { ...record, containers: record.containers.map((one) => (one.name === name ? { ...one, ...change } : one)) };
}

/** Sets the desired status to STOPPED. A reason that was set before stays. */
export function stopTask(record: TaskRecord, reason: Reason): TaskRecord {
  return record.desired === "STOPPED" ? record : { ...record, desired: "STOPPED", reason };
}

export function stopContainer(record: TaskRecord, name: string, reason: Reason): TaskRecord {
  const container = containerOf(record, name);
  if (container === undefined || container.desired === "STOPPED") return record;
  return changeContainer(record, name, { desired: "STOPPED", restartAt: null, isRestartAsked: false, reason: container.reason ?? reason });
}

/** Adds this incarnation to those that must be removed from the runtime, which may or may not know it. */
export function leaveBehind(record: TaskRecord, { name, generation, runtimeId }: ContainerRecord): TaskRecord {
  if (record.leftovers.some((one) => one.runtimeId === runtimeId)) return record;
  const leftover: Leftover = { container: name, generation, runtimeId, isRemoving: false, failures: 0, nextTry: null };
  return { ...record, leftovers: [...record.leftovers, leftover] };
}
