/**
 * The record of a task: all that the store has of it. Each container has four separate statuses: `desired` (wanted), `known` (observed), `applied` (in
 * flight), `sent` (acknowledged by subscribers).
 */
import type { ContainerSpec, HealthCheck, TaskSpec } from "../spec/index.ts";
import type { Reason } from "./reason.ts";
import type { ContainerStatus, Desired, ResourceStatus, Steady, TaskStatus } from "./status.ts";
import type { Deadline, Instant } from "./time.ts";

export const RECORD_VERSION = 3;

export interface ContainerExit {
  /** 128 + signal when a signal ended it. null: nobody saw how it ended, or it never ran. */
  readonly code: number | null;
  readonly signal: number | null;
  readonly oomKilled: boolean;
  /** It has ended and nobody saw how. Never reported as 0. */
  readonly unknown: boolean;
  readonly endedWallMs: number;
}

export type HealthStatus = "UNKNOWN" | "HEALTHY" | "UNHEALTHY";

export interface HealthRecord {
  readonly status: HealthStatus;
  /** When it became what it is; absent: it has not changed yet, or in a record of an earlier version. */
  readonly sinceWallMs?: number;
  /** In a row. */
  readonly failures: number;
  /** In a row; absent where one is enough. */
  readonly successes?: number;
  readonly isChecking: boolean;
  readonly nextCheck: Deadline | null;
  /** The end of what the last check printed. */
  readonly output: string;
}

export interface StopRecord {
  /** How many tries have failed. */
  readonly failures: number;
  readonly nextTry: Deadline | null;
}

export interface UpdateRecord {
  readonly isInFlight: boolean;
  /** The limits have changed again while it was in flight. */
  readonly isStale: boolean;
  readonly failures: number;
  readonly nextTry: Deadline | null;
  /** Why the last try failed. */
  readonly error: string | null;
}

/** The image of a container, by its content: what it was made from, whatever its name stands for now. */
export interface ImageRecord {
  /** As the task names it. */
  readonly reference: string;
  /** As its source names the content: "sha256:...". */
  readonly digest: string;
  /** Of the manifest in the store. */
  readonly manifest: string;
  /** Of the configuration, where that of the manifest says less; null: it does not. */
  readonly config: string | null;
  /** pulled: it has come then. current: the source had nothing newer. cache: the source was not asked. usingCachedDigest: the source has failed. */
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  /** Why the source has failed. */
  readonly pullError?: string;
  /** What it says where the task says nothing. */
  readonly stopSignal: string | null;
  readonly healthCheck: HealthCheck | null;
}

/** A program that runs in a container beside its own (spec.agents). */
export interface AgentRecord {
  readonly name: string;
  readonly known: "RUNNING" | "STOPPED";
  /** On the host; null: it does not run. */
  readonly pid: number | null;
  /** How often it was started again in this incarnation. */
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
  /** From 1; each restart is a new incarnation. Events of an older one are ignored. */
  readonly generation: number;
  /** Of this incarnation: derived from task, container and generation (ids.ts), so that it is known before it is created. */
  readonly runtimeId: string;
  readonly desired: Desired;
  readonly known: ContainerStatus;
  /** The status an action in flight leads to; null: none is. */
  readonly applied: ContainerStatus | null;
  readonly sent: Readonly<{ generation: number; known: ContainerStatus }> | null;
  /** An action failed and may have had its effect: a stop is needed whatever is known. */
  readonly isUnsure: boolean;
  /** null: it has none, or it was not got yet. It stays for all incarnations. */
  readonly image: ImageRecord | null;
  readonly startedAt: Instant | null;
  readonly stoppedAt: Instant | null;
  readonly exit: ContainerExit | null;
  readonly reason: Reason | null;
  readonly health: HealthRecord | null;
  /** Of its hook after the start, of its start and of its life (checks.ts); absent: it has none. */
  readonly postStart?: HealthRecord;
  readonly startup?: HealthRecord;
  readonly liveness?: HealthRecord;
  /** Of this incarnation, those that were begun; absent: none was. */
  readonly agents?: readonly AgentRecord[];
  /** How often it was started again. */
  readonly restarts: number;
  /** Runs in a row that ended before restart.backoff.resetAfter: the next wait is longer with each. */
  readonly shortRuns: number;
  /** It is started again then. */
  readonly restartAt: Deadline | null;
  /** A user asked for a new incarnation: it is stopped and then started again. */
  readonly isRestartAsked: boolean;
  /** Since when it could go on but for what it depends on. */
  readonly blockedSince: Instant | null;
  readonly stop: StopRecord;
  /** Whether it was told before its stop (spec.preStop). One that was in flight when the daemon died is done. */
  readonly preStop: "waiting" | "running" | "done";
  /** It was stopped once after it had turned up running although it had stopped. */
  readonly isStrayStopped: boolean;
  /** Limits of the spec that the running container does not have yet; null: it has them. */
  readonly update: UpdateRecord | null;
}

/** network: it is there before any container is created, and is given back as soon as all have ended. */
export type ResourceKind = "cgroup" | "volume" | "network";

export interface ResourceRecord {
  /** "cgroup", "volume:NAME", "network". */
  readonly name: string;
  readonly kind: ResourceKind;
  readonly known: ResourceStatus;
  readonly applied: ResourceStatus | null;
  readonly failures: number;
  readonly nextTry: Deadline | null;
}

/** What a task has of a network; gone with it. */
export interface NetworkRecord {
  /** With the length of the prefix: "10.201.0.2/20". The first is the one to be reached at. */
  readonly addresses: readonly string[];
}

/** waiting: for room on the host. admitted: its share is taken from the ledger. released: it was given back, or never taken. */
export type Admission = "waiting" | "admitted" | "released";

export interface TaskRecord {
  readonly version: typeof RECORD_VERSION;
  readonly id: string;
  readonly group: string;
  readonly name: string;
  /** From 1: one more for each start after a reboot. */
  readonly generation: number;
  readonly spec: TaskSpec;
  readonly digest: string;
  /**
   * Path of its own cgroup below every hierarchy, with a random part, so that nobody else's has this name. Kept for its life, whatever the host is
   * configured to later. null: its containers stand directly below that of the host.
   */
  readonly cgroup: string | null;
  readonly desired: Desired;
  readonly known: TaskStatus;
  readonly sent: TaskStatus | null;
  readonly admission: Admission;
  /** Why it waits; null when it does not. */
  readonly waiting: Readonly<{
    since: Instant;
    missing: readonly string[];
    /** How many started before it although they were behind it. */
    overtaken: Readonly<{ count: number; since: Instant }> | null;
  }> | null;
  readonly reason: Reason | null;
  /** The boot its processes belong to. */
  readonly bootId: string;
  readonly createdAt: Instant;
  readonly stoppedAt: Instant | null;
  /** When it may be removed, and when it is removed even if nobody has acknowledged its end. null: it has not stopped. */
  readonly cleanup: Readonly<{ retained: Deadline; bound: Deadline }> | null;
  /** Its owner does not want to look at it any longer. */
  readonly isDeleteAsked: boolean;
  /** The task in whose place it is. stopFirst: it begins when that one has ended. startFirst: that one ends when this one works. */
  readonly replaces: Readonly<{ task: string; order: "stopFirst" | "startFirst" }> | null;
  /** What ran before under this name, for `rollback`. */
  readonly previous: Readonly<{ spec: TaskSpec; digest: string }> | null;
  /** When the first pull of an image has begun, and when the last one has ended; null: none has begun. */
  readonly pulls: Readonly<{ startedAt: Instant; stoppedAt: Instant | null }> | null;
  /** Its containers are being removed: they are among the leftovers. */
  readonly isSwept: boolean;
  readonly resources: readonly ResourceRecord[];
  /** null, or absent in a record of an earlier version: it has none now. */
  readonly network?: NetworkRecord | null;
  readonly containers: readonly ContainerRecord[];
  /** Ended incarnations that are still to be removed from the runtime. */
  readonly leftovers: readonly Leftover[];
}

export interface Leftover {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  readonly isRemoving: boolean;
  readonly failures: number;
  readonly nextTry: Deadline | null;
}

/** undefined for the pause process, which no spec names. */
export function specOf(record: TaskRecord, name: string): ContainerSpec | undefined {
  return record.spec.containers.find((container) => container.name === name);
}
