/** What follows from a decision about a rollout. */
import { replicaOf, type TaskSpec } from "../spec/index.ts";
import type { Reason } from "./reason.ts";
import type { TaskRecord } from "./record.ts";
import type { ImagesOf } from "./revision-images.ts";
import type { ReplicaRecord, ServiceRecord, SpecsOf } from "./service.ts";
import type { Instant } from "./time.ts";

/** What has to be done to tasks. All steps of a decision are carried out in one transaction. */
export type RolloutStep =
  /** A new task with this id. `current`: the task whose place it takes. The rollout ends that one itself if the order is startFirst. */
  | {
      readonly type: "replace";
      readonly id: string;
      readonly spec: TaskSpec;
      readonly current: TaskRecord | undefined;
      readonly order: "stopFirst" | "startFirst";
    }
  | { readonly type: "remove"; readonly id: string; readonly reason: Reason };

/** What a reader of the journal is told. */
export interface RolloutTold {
  readonly state:
    | "started"
    | "replacing"
    | "ready"
    | "good"
    | "failed"
    | "left"
    | "paused"
    | "resumed"
    | "rolling-back"
    | "complete"
    | "incomplete";
  /** Name of the replica; absent: the whole rollout. */
  readonly replica?: string;
  readonly task: string | null;
  readonly reason?: Reason;
}

export interface RolloutDecision {
  /** The same object as before: nothing has changed. */
  readonly service: ServiceRecord;
  readonly steps: readonly RolloutStep[];
  readonly told: readonly RolloutTold[];
}

export interface RolloutView {
  readonly specsOf: SpecsOf;
  readonly imagesOf: ImagesOf;
  /** All tasks of the host, in the order in which they were applied. */
  readonly tasks: readonly TaskRecord[];
  readonly now: Instant;
  /** Makes the id of a new task. */
  readonly newId: (name: string) => string;
}

/** Collects what follows while the rollout is decided on. */
export class Deciding {
  readonly steps: RolloutStep[] = [];
  readonly told: RolloutTold[] = [];
  readonly view: RolloutView;
  /** By name, the newest last. */
  readonly #byName = new Map<string, TaskRecord[]>();
  readonly #byId = new Map<string, TaskRecord>();
  readonly #removed = new Set<string>();

  /** @param specs of the version to which the rollout leads: tasks of these names are meant, too, if they were no replicas before */
  constructor(service: ServiceRecord, view: RolloutView, specs: readonly TaskSpec[]) {
    this.view = view;
    const names = new Set(specs.map(({ name }) => name));
    const isOwn = ({ group, name, spec }: TaskRecord) =>
      group === service.group && (names.has(name) || replicaOf(spec)?.service === service.name);
    for (const one of view.tasks) {
      if (!isOwn(one) || one.isDeleteAsked) continue;
      this.#byId.set(one.id, one);
      const others = this.#byName.get(one.name);
      if (others === undefined) this.#byName.set(one.name, [one]);
      else others.push(one);
    }
  }

  /** The tasks of a replica that are not being removed, the newest last. */
  of(name: string): TaskRecord[] {
    return (this.#byName.get(name) ?? []).filter(({ id }) => !this.#removed.has(id));
  }

  /** The task with this id, also if this decision removes it; undefined: there is none. */
  task(id: string | null): TaskRecord | undefined {
    return id === null ? undefined : this.#byId.get(id);
  }

  tell(state: RolloutTold["state"], replica?: Pick<ReplicaRecord, "name" | "task">, why?: Reason): void {
    this.told.push({
      state,
      task: replica?.task ?? null,
      ...(replica === undefined ? {} : { replica: replica.name }),
      ...(why === undefined ? {} : { reason: why }),
    });
  }

  remove(task: TaskRecord, why: Reason): void {
    this.#removed.add(task.id);
    this.steps.push({ type: "remove", id: task.id, reason: why });
  }
}
