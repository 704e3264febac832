/**
 * The record of a task, which is all that the store has of it. Each container has four separate statuses: `desired` (wanted), `known` (observed), `applied` (target
 * of the action in flight) and `sent` (acknowledged by subscribers).
 */
import type { ContainerSpec, HealthCheck, TaskSpec } from "../spec/index.ts";
import type { Reason } from "./reason.ts";
import type { ContainerStatus, Desired, ResourceStatus, Steady, TaskStatus } from "./status.ts";
import type { Deadline, Instant } from "./time.ts";

export const RECORD_VERSION = 3;

export interface ContainerExit {
  /** 128 + signal if a signal ended it. null: the end was not observed, or the container never ran. */
  readonly code: number | null;
  readonly signal: number | null;
  readonly oomKilled: boolean;
  /** The container has ended, and the exit status was not observed. Such an end never counts as exit code 0. */
  readonly unknown: boolean;
  readonly endedWallMs: number;
}

export type HealthStatus = "UNKNOWN" | "HEALTHY" | "UNHEALTHY";

export interface HealthRecord {
  readonly status: HealthStatus;
  /** When the status last changed. Absent: it has not changed, or an earlier version wrote the record. */
  readonly sinceWallMs?: number;
  /** Number of consecutive failures. */
  readonly failures: number;
  /** Number of consecutive successes; absent if one success is enough. */
  readonly successes?: number;
  readonly isChecking: boolean;
  readonly nextCheck: Deadline | null;
  /** The end of the last check's output. */
  readonly output: string;
}

/** The check that has failed, with the end of its last output. */
export interface FailedCheck {
  readonly kind: "postStart" | "startup" | "liveness" | "health";
  /** In a row. */
  readonly failures: number;
  readonly output: string;
}

export interface StopRecord {
  /** Number of failed attempts. */
  readonly failures: number;
  readonly nextTry: Deadline | null;
  /** Why the last attempt failed. Absent: none has. */
  readonly error?: string;
}

export interface UpdateRecord {
  readonly isInFlight: boolean;
  /** The limits have changed again since the update in flight began. */
  readonly isStale: boolean;
  readonly failures: number;
  readonly nextTry: Deadline | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

/** The image of a container, identified by its content, which does not change if its tag moves. */
export interface ImageRecord {
  /** The reference in the task file. */
  readonly reference: string;
  /** The digest under which the source has the content: "sha256:...". */
  readonly digest: string;
  /** Digest of the manifest in the store. */
  readonly manifest: string;
  /** Digest of the image configuration, if it is not the one in the manifest; null: it is. */
  readonly config: string | null;
  /** pulled: it was downloaded. current: the source has nothing newer. cache: the source was not asked. usingCachedDigest: the source failed. */
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  /** Why the source failed. */
  readonly pullError?: string;
  /** The image's stop signal, for tasks that set none. */
  readonly stopSignal: string | null;
  readonly healthCheck: HealthCheck | null;
}

/** pulling: parts of the image come. unpacking: all have come, and are unpacked. */
export type PullPhase = "pulling" | "unpacking";

/** Of an image: its layers, and their bytes as they are packed. */
export interface PullSize {
  readonly layers: number;
  readonly bytes: number;
}

/** An agent: a further program that runs in a container (spec.agents). */
export interface AgentRecord {
  readonly name: string;
  readonly known: "RUNNING" | "STOPPED";
  /** Process id on the host; null: it does not run. */
  readonly pid: number | null;
  /** Number of restarts in this incarnation. */
  readonly restarts: number;
  /** Why it does not run; null: it runs. */
  readonly reason: string | null;
}

export type ContainerType = "normal" | "namespacePause";

export interface ContainerRecord {
  readonly name: string;
  readonly type: ContainerType;
  readonly essential: boolean;
  readonly steady: Steady;
  /** Counts incarnations from 1: each restart makes a new one. Events of older incarnations are ignored. */
  readonly generation: number;
  /** Id of this incarnation in the runtime. It is derived from task, container and generation (ids.ts), so that it is known before the container is created. */
  readonly runtimeId: string;
  readonly desired: Desired;
  readonly known: ContainerStatus;
  /** The status to which the action in flight leads; null: no action is in flight. */
  readonly applied: ContainerStatus | null;
  readonly sent: Readonly<{ generation: number; known: ContainerStatus }> | null;
  /** An action has failed but may have had its effect: the container must be stopped, whatever `known` says. */
  readonly isUnsure: boolean;
  /** Why the runtime can no longer act on it although it runs: its records are lost. It is stopped, whatever is wanted. Absent or null: they are not. */
  readonly lost?: string | null;
  /** null: there is none, or it was not pulled yet. All incarnations have the same image. */
  readonly image: ImageRecord | null;
  /** How far the pull in flight is. Absent or null: nothing has come yet, or none is in flight. */
  readonly pull?: PullPhase | null;
  /** Of the image that is being pulled. Absent or null: its source does not say. */
  readonly pullSize?: PullSize | null;
  readonly startedAt: Instant | null;
  readonly stoppedAt: Instant | null;
  readonly exit: ContainerExit | null;
  /** The earlier incarnation whose end `exit` is, until this one has ended; absent or null: `exit` is the end of this one. */
  readonly lastRun?: Readonly<{
    runtimeId: string;
    startedWallMs: number | null;
    /** The check because of which it was ended. Absent: no check has ended it. */
    failedCheck?: FailedCheck;
  }> | null;
  readonly reason: Reason | null;
  readonly health: HealthRecord | null;
  /** The states of its postStart hook, startup check and liveness check (checks.ts), if it has them. */
  readonly postStart?: HealthRecord;
  readonly startup?: HealthRecord;
  readonly liveness?: HealthRecord;
  /** The agents of this incarnation that were started; absent: none. */
  readonly agents?: readonly AgentRecord[];
  /** Number of restarts. */
  readonly restarts: number;
  /** Number of those that users have asked for. Absent: 0. */
  readonly askedRestarts?: number;
  /** The next restart is one of those. */
  readonly isRestartByUser?: boolean;
  /** Number of consecutive runs shorter than restart.backoff.resetAfter. The delay before a restart grows with each. */
  readonly shortRuns: number;
  /** When the container is to be started again. */
  readonly restartAt: Deadline | null;
  /** A user has asked for a restart: the container is stopped and then started again. */
  readonly isRestartAsked: boolean;
  /** When it began to wait for dependencies only; null: it does not. */
  readonly blockedSince: Instant | null;
  readonly stop: StopRecord;
  /** State of the preStop hook. A hook that was running when the daemon died counts as done. */
  readonly preStop: "waiting" | "running" | "done";
  /** The time of the preStop hook of this incarnation. tookMs is null while it runs. Absent or null: no hook was started. */
  readonly preStopRun?: Readonly<{ startedAt: Instant; tookMs: number | null }> | null;
  /** The container was found running after it had stopped, and was then stopped once more. */
  readonly isStrayStopped: boolean;
  /** Limits of the spec that the running container does not have yet; null: it has all. */
  readonly update: UpdateRecord | null;
}

/** The network is made before any container of the task file is started, and removed as soon as all of them have ended. */
export type ResourceKind = "cgroup" | "users" | "volume" | "network";

export interface ResourceRecord {
  /** Such as "cgroup", "users", "volume:NAME", "network". */
  readonly name: string;
  readonly kind: ResourceKind;
  readonly known: ResourceStatus;
  readonly applied: ResourceStatus | null;
  readonly failures: number;
  readonly nextTry: Deadline | null;
  /** Why the last attempt failed. Absent: none has. */
  readonly error?: string;
}

/** What was assigned to the task by its network. */
export interface NetworkRecord {
  /** With prefix lengths, such as "10.201.0.2/20". Clients use the first one. */
  readonly addresses: readonly string[];
  /** Why the task has only loopback (NetworkSpec.fallback). Absent: it has the network of its spec. */
  readonly lacks?: string;
}

/** waiting: for capacity. admitted: it has its share of the capacity. released: it has returned its share, or never had one. */
export type Admission = "waiting" | "admitted" | "released";

export interface TaskRecord {
  readonly version: typeof RECORD_VERSION;
  readonly id: string;
  readonly group: string;
  readonly name: string;
  /** Counts from 1: one more for each start after a reboot. */
  readonly generation: number;
  readonly spec: TaskSpec;
  readonly digest: string;
  /** Path of the file, or of the directory of the project, that it was applied from; absent: unknown. */
  readonly from?: string;
  /**
   * Path of the task's own cgroup below every hierarchy. It has a random part, so that no other cgroup has this name, and stays the same
   * even if the engine is configured otherwise later. null: the task's containers are directly below the engine's parent cgroup.
   */
  readonly cgroup: string | null;
  readonly desired: Desired;
  readonly known: TaskStatus;
  readonly sent: TaskStatus | null;
  readonly admission: Admission;
  /** Why the task waits; null: it does not wait. */
  readonly waiting: Readonly<{
    since: Instant;
    missing: readonly string[];
    /** How many tasks that were behind it have started before it. */
    overtaken: Readonly<{ count: number; since: Instant }> | null;
  }> | null;
  readonly reason: Reason | null;
  /** The boot to which its processes belong. */
  readonly bootId: string;
  readonly createdAt: Instant;
  readonly stoppedAt: Instant | null;
  /** When it is stopped because it has taken too long; absent: it has no deadline, or was not admitted yet. */
  readonly expires?: Instant;
  /** When the task may be removed, and when it is removed even without acknowledgement. null: it has not stopped. */
  readonly cleanup: Readonly<{ retained: Deadline; bound: Deadline }> | null;
  /** A user asked to delete it: it is removed without retention. */
  readonly isDeleteAsked: boolean;
  /** And its kept volumes with it, as far as no other task of the group names them. Absent: they stay. */
  readonly areVolumesAsked?: true;
  /** The task that this one replaces. stopFirst: the old task ends before the new one starts. startFirst: the old task ends when the new one works. */
  readonly replaces: Readonly<{
    task: string;
    order: "stopFirst" | "startFirst";
    /** With startFirst: the rollout of its service ends the old task. Absent: the old task ends as soon as the new one works. */
    isRolledOut?: true;
  }> | null;
  /** The spec that ran before under this name, for `rollback`. */
  readonly previous: Readonly<{ spec: TaskSpec; digest: string }> | null;
  /** Start of the first pull and end of the last one; null: nothing was pulled. */
  readonly pulls: Readonly<{ startedAt: Instant; stoppedAt: Instant | null }> | null;
  /** All its containers were moved to `leftovers` to be removed. */
  readonly isSwept: boolean;
  /** The same for all but the one that holds shared namespaces. */
  readonly isSweptEarly?: boolean;
  readonly resources: readonly ResourceRecord[];
  /** The first id of the host that belongs to the task; absent: it has the users of the host. */
  readonly users?: { readonly first: number };
  /**
   * Of a task with a schedule: up to which time it is decided, which one was started last, and which one waits for the end of the run before. beforeResetMs:
   * up to which time it was decided before it counted anew because the clock was behind that; kept until the clock has passed it.
   */
  readonly scheduled?: Readonly<{ decidedMs: number; startedMs?: number; heldMs?: number; beforeResetMs?: number }>;
  /** Of a run: the task with the schedule, and its time. Both are in one group. */
  readonly run?: Readonly<{ of: string; atMs: number }>;
  /** null: it has none at the moment. Absent in records of earlier versions. */
  readonly network?: NetworkRecord | null;
  readonly containers: readonly ContainerRecord[];
  /** Ended incarnations that must still be removed from the runtime. */
  readonly leftovers: readonly Leftover[];
}

export interface Leftover {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  readonly isRemoving: boolean;
  readonly failures: number;
  readonly nextTry: Deadline | null;
  /** Why the last attempt failed. Absent: none has. */
  readonly error?: string;
}

/** undefined for the pause container, which no spec names. */
export function specOf(record: Pick<TaskRecord, "spec">, name: string): ContainerSpec | undefined {
  return record.spec.containers.find((container) => container.name === name);
}

/** null: the container has no image, or it is not known yet. */
export function imageOfContainer({ containers }: Pick<TaskRecord, "containers">, container: string): ImageRecord | null {
  return containers.find(({ name }) => name === container)?.image ?? null;
}
