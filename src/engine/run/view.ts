/** What the outside sees of a task: nothing of its environment, and no more than a reader may know. Pure. */
import { type ContainerExit, type ContainerRecord, renderReason, type TaskRecord } from "../model/index.ts";
import type { Paths } from "./paths.ts";

export interface ContainerView {
  readonly name: string;
  readonly id: string;
  readonly generation: number;
  readonly desired: ContainerRecord["desired"];
  readonly known: ContainerRecord["known"];
  readonly restarts: number;
  /** Milliseconds since the epoch; null: not yet. */
  readonly startedMs: number | null;
  readonly stoppedMs: number | null;
  readonly exit: ContainerExit | null;
  readonly reason: string | null;
  /** File on the daemon's host. */
  readonly log: string;
}

export interface TaskView {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly generation: number;
  readonly digest: string;
  readonly desired: TaskRecord["desired"];
  readonly known: TaskRecord["known"];
  readonly reason: string | null;
  readonly createdMs: number;
  readonly containers: readonly ContainerView[];
}

export function viewOf(record: TaskRecord, paths: Paths): TaskView {
  const { id, group, name, generation, digest, desired, known, reason, createdAt } = record;
  return {
    ...{ id, group, name, generation, digest, desired, known },
    reason: reason && renderReason(reason),
    createdMs: createdAt.wallMs,
    containers: record.containers.map((container) => ({
      name: container.name,
      id: container.runtimeId,
      generation: container.generation,
      desired: container.desired,
      known: container.known,
      restarts: container.restarts,
      startedMs: container.startedAt?.wallMs ?? null,
      stoppedMs: container.stoppedAt?.wallMs ?? null,
      exit: container.exit,
      reason: container.reason && renderReason(container.reason),
      log: paths.log(id, container.runtimeId),
    })),
  };
}
