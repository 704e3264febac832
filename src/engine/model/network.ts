/** The network among the resources of a task. It is released when the containers have ended, not only when the task is removed. */
import { isJoinedEarly } from "../spec/index.ts";
import type { Action } from "./action.ts";
import type { ContainerRecord, ResourceRecord, TaskRecord } from "./record.ts";
import { hasPassed, type Instant } from "./time.ts";

/** Name of the resource. */
export const NETWORK = "network";

function networkOf({ resources }: TaskRecord): ResourceRecord | undefined {
  return resources.find(({ kind }) => kind === "network");
}

/** Whether parts of the network may exist on the host. */
export function holdsNetwork(record: TaskRecord): boolean {
  const network = networkOf(record);
  return network !== undefined && network.known !== "REMOVED" && !(network.known === "NONE" && network.applied === null);
}

/** Whether the pause container may start: it needs no more of the network than its namespace, which is there before the interfaces are. */
export function canJoinNetwork(record: TaskRecord): boolean {
  const network = networkOf(record);
  return network === undefined || network.known === "CREATED" || (network.applied === "CREATED" && isJoinedEarly(record.spec));
}

/** Whether the pause container must stay because the network still exists. If removing the network has failed, the pause container does not wait for it. */
export function isHeldByNetwork(record: TaskRecord, { type }: ContainerRecord): boolean {
  return (
    type === "namespacePause" &&
    record.desired === "STOPPED" &&
    haveEnded(record) &&
    holdsNetwork(record) &&
    networkOf(record)!.failures === 0
  );
}

function haveEnded({ containers }: TaskRecord): boolean {
  return containers.every(({ type, known }) => type === "namespacePause" || known === "STOPPED");
}

/** Whether all containers of the task file have ended, none will start, and no action on them is in flight. */
export function isOver(record: TaskRecord): boolean {
  const isSettled = record.containers.every(({ type, applied }) => type === "namespacePause" || applied === null);
  return record.desired === "STOPPED" && haveEnded(record) && isSettled;
}

export function releaseNetwork(record: TaskRecord, now: Instant): { readonly record: TaskRecord; readonly actions: readonly Action[] } {
  const network = networkOf(record);
  const isDue = network?.applied === null && network.known !== "REMOVED" && (network.nextTry === null || hasPassed(network.nextTry, now));
  if (!isDue || !isOver(record)) return { record, actions: [] };
  return {
    record: { ...record, resources: record.resources.map((one) => (one === network ? { ...one, applied: "REMOVED" } : one)) },
    actions: [{ type: "removeResource", name: network.name }],
  };
}
