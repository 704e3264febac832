/** The events of a task. */

import type { TaskSpec } from "../spec/index.ts";
import type { CheckKind } from "./checks.ts";
import type { Reason } from "./reason.ts";
import type { AgentRecord, ContainerExit, ImageRecord, NetworkRecord, TaskRecord } from "./record.ts";
import type { ContainerStatus, ResourceStatus, TaskStatus } from "./status.ts";
import type { Instant } from "./time.ts";

/** Why an action failed. */
export interface ActionError {
  readonly message: string;
  /** It may have had its effect (a time-out, a killed process). */
  readonly isOutcomeUnknown: boolean;
  /** Of a pull: whether the whole task stops, or only the container, as one that could not be created. Absent: the task. */
  readonly stops?: "task" | "container";
}

/** What the runtime says of one incarnation. */
export type Observation =
  /** It knows nothing of this id. */
  | { readonly state: "absent" }
  | { readonly state: "created" }
  | { readonly state: "running"; readonly startedAt?: Instant }
  /** Its cgroup is empty. */
  | { readonly state: "exited"; readonly exit: ContainerExit };

interface OfContainer {
  readonly container: string;
  readonly generation: number;
}

export type TaskEvent = { readonly at: Instant } & (
  | { readonly type: "admitted" }
  /** The host has no room now. `missing` names what is short. */
  | { readonly type: "waiting"; readonly missing: readonly string[]; readonly overtaken: NonNullable<TaskRecord["waiting"]>["overtaken"] }
  /** It can never run here. */
  | { readonly type: "refused"; readonly message: string }
  /** A deadline of the record has passed, or another task of the group has changed. */
  | { readonly type: "tick" }
  | { readonly type: "stop"; readonly reason: Reason }
  | { readonly type: "restart"; readonly containers: readonly string[] }
  /** Removed as soon as it has stopped, without retention. `reason` undefined: its user has said so. */
  | { readonly type: "delete"; readonly reason?: Reason }
  /** Another spec, of which only limits of containers are different. */
  | { readonly type: "respec"; readonly spec: TaskSpec; readonly digest: string }
  /** The limits of a container were changed, or could not be. */
  | ({ readonly type: "updated"; readonly error?: ActionError } & OfContainer)
  /** An action has ended: `target` is the status it leads to. */
  | ({
      readonly type: "result";
      readonly target: ContainerStatus;
      readonly error?: ActionError;
      readonly exit?: ContainerExit;
      /** Of a pull. */
      readonly image?: ImageRecord;
    } & OfContainer)
  | {
      readonly type: "resource";
      readonly name: string;
      readonly target: ResourceStatus;
      readonly error?: ActionError;
      /** What the network has come to. */
      readonly network?: NetworkRecord;
    }
  | ({ readonly type: "removed"; readonly error?: ActionError } & OfContainer)
  /** Seen while it runs. */
  | ({ readonly type: "observed"; readonly observation: Observation } & OfContainer)
  /** The old daemon and all it was doing are gone. What may be repeated is decided anew; each container is `lookedUp` in the same turn. */
  | { readonly type: "fenced" }
  /** After `fenced`: the truth. The action that was in flight for it is no longer. */
  | ({ readonly type: "lookedUp"; readonly observation: Observation } & OfContainer)
  | ({ readonly type: "agent"; readonly agent: AgentRecord } & OfContainer)
  /** `error`: what went wrong, for the log; the stop goes on. */
  | ({ readonly type: "preStopped"; readonly error?: string } & OfContainer)
  | ({ readonly type: "health"; readonly check: CheckKind; readonly isHealthy: boolean; readonly output: string } & OfContainer)
  /**
   * The host has booted anew: at.bootId is the new one. `exits` are those recorded on disk, by runtime id, that were not observed: an orderly shutdown ends
   * containers too, so they are no reason not to start the task again.
   */
  | { readonly type: "booted"; readonly exits: Readonly<Record<string, ContainerExit>> }
  | {
      readonly type: "acknowledged";
      readonly known: TaskStatus;
      readonly containers: Readonly<Record<string, Readonly<{ generation: number; known: ContainerStatus }>>>;
    }
);
