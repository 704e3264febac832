/** The events of a task. */

import type { TaskSpec } from "../spec/index.ts";
import type { CheckKind } from "./checks.ts";
import type { Reason } from "./reason.ts";
import type { AgentRecord, ContainerExit, ImageRecord, NetworkRecord, PullPhase, PullSize, TaskRecord } from "./record.ts";
import type { ContainerStatus, ResourceStatus, TaskStatus } from "./status.ts";
import type { Instant } from "./time.ts";

/** Why an action has failed. */
export interface ActionError {
  readonly message: string;
  /** Whether the action may have had its effect nevertheless, as after a timeout or when the process was killed. */
  readonly isOutcomeUnknown: boolean;
  /** For a failed pull: stops the whole task, or only this container as one that could not be created. Absent: the task. */
  readonly stops?: "task" | "container";
  /** For a program that could not be executed (Reason.exitStatus). */
  readonly exitStatus?: 126 | 127;
}

/** The state of one incarnation in the runtime. */
export type Observation =
  /** The runtime does not know the id. */
  | { readonly state: "absent" }
  | { readonly state: "created" }
  | { readonly state: "running"; readonly startedAt?: Instant }
  /** The container's cgroup is empty. */
  | { readonly state: "exited"; readonly exit: ContainerExit }
  /** Processes of it are there, and its records in the runtime are gone or damaged. */
  | { readonly state: "lost"; readonly message: string };

interface OfContainer {
  readonly container: string;
  readonly generation: number;
}

export type TaskEvent = { readonly at: Instant } & (
  | { readonly type: "admitted" }
  /** The host lacks capacity at the moment. `missing` names what is short. */
  | { readonly type: "waiting"; readonly missing: readonly string[]; readonly overtaken: NonNullable<TaskRecord["waiting"]>["overtaken"] }
  /** The task can never run on this host. */
  | { readonly type: "refused"; readonly message: string }
  /** A deadline of the record has passed, or another task of the group has changed. */
  | { readonly type: "tick" }
  | { readonly type: "stop"; readonly reason: Reason }
  /** A task that has stopped waits for its next start. */
  | { readonly type: "renew" }
  | { readonly type: "restart"; readonly containers: readonly string[] }
  /** Removes the task as soon as it has stopped, without retention. `reason` undefined: a user asked for it. `volumes`: also its kept volumes. */
  | { readonly type: "delete"; readonly reason?: Reason; readonly volumes?: boolean }
  /** The task gets another spec that differs only in the limits of containers. */
  | { readonly type: "respec"; readonly spec: TaskSpec; readonly digest: string }
  /** The result of changing the limits of a container. */
  | ({ readonly type: "updated"; readonly error?: ActionError } & OfContainer)
  /** An action has ended. `target` is the status to which it leads. */
  | ({
      readonly type: "result";
      readonly target: ContainerStatus;
      readonly error?: ActionError;
      readonly exit?: ContainerExit;
      /** For a pull: the image. */
      readonly image?: ImageRecord;
    } & OfContainer)
  | {
      readonly type: "resource";
      readonly name: string;
      readonly target: ResourceStatus;
      readonly error?: ActionError;
      /** For the network: its record. */
      readonly network?: NetworkRecord;
    }
  /** How far the pull in flight is. */
  | ({ readonly type: "pulling"; readonly phase: PullPhase; readonly size?: PullSize | undefined } & OfContainer)
  | ({ readonly type: "removed"; readonly error?: ActionError } & OfContainer)
  /** A container was observed in normal operation. */
  | ({ readonly type: "observed"; readonly observation: Observation } & OfContainer)
  /** The earlier daemon and all its actions have ended. Repeatable actions are decided again; each container is `lookedUp` in the same turn. */
  | { readonly type: "fenced" }
  /** Follows `fenced`: the state of a container in the runtime. Its action is no longer in flight. */
  | ({ readonly type: "lookedUp"; readonly observation: Observation } & OfContainer)
  | ({ readonly type: "agent"; readonly agent: AgentRecord } & OfContainer)
  /** `error`: why the hook failed, for the log. The stop continues in any case. */
  | ({ readonly type: "preStopped"; readonly error?: string } & OfContainer)
  | ({ readonly type: "health"; readonly check: CheckKind; readonly isHealthy: boolean; readonly output: string } & OfContainer)
  /**
   * The host was rebooted: at.bootId is the new boot. `exits`: exit statuses on disk, by runtime id, that were not observed. They do not prevent a restart of the
   * task, because an orderly shutdown ends containers too.
   */
  | { readonly type: "booted"; readonly exits: Readonly<Record<string, ContainerExit>> }
  | {
      readonly type: "acknowledged";
      readonly known: TaskStatus;
      readonly containers: Readonly<Record<string, Readonly<{ generation: number; known: ContainerStatus }>>>;
    }
);
