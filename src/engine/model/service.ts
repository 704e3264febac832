/** The record of a service: its versions, and the rollout that leads its replicas to one of them. */
import { canonicalJson, type RolloutPolicy, specDigest, type TaskSpec } from "../spec/index.ts";
import type { Reason } from "./reason.ts";
import type { RevisionImages } from "./revision-images.ts";
import type { Deadline, Instant } from "./time.ts";

/** Number of versions that are kept. */
export const MOST_REVISIONS = 10;

export const ROLLOUT_STATES = ["progressing", "paused", "complete", "failed"] as const;
/** complete, failed: it has ended. */
export type RolloutState = (typeof ROLLOUT_STATES)[number];

export const REPLICA_STATES = ["waiting", "starting", "watched", "good", "failed", "left"] as const;
/**
 * waiting: it still has the earlier version. starting: the new one does not work yet. watched: it works, and `monitor` is not over.
 * left: the rollout does not touch it, because somebody has stopped or removed it, `partition` leaves it out, or it was added after the rollout has failed.
 */
export type ReplicaState = (typeof REPLICA_STATES)[number];

export interface ReplicaRecord {
  /** Name of its task. */
  readonly name: string;
  readonly index: number;
  readonly state: ReplicaState;
  /** Id of the task: of the earlier version while it is `waiting`, else of the new one. null: there is none. */
  readonly task: string | null;
  /** When this state began. */
  readonly since: Instant;
  /** Since when it works; null: it does not. */
  readonly readySince: Instant | null;
  /** Number of restarts of its containers that do not count as failures. */
  readonly restarts: number;
  /** Why it has failed. */
  readonly reason: Reason | null;
  /** Id of a task that goes on although it has not shown that it works, or has failed: a task of an earlier version, or one that is tried again. */
  readonly unproven?: string;
}

export type RolloutKind = "create" | "update" | "rollback" | "restart";

export interface RolloutRecord {
  readonly kind: RolloutKind;
  /** Number of the version to which it leads. */
  readonly to: number;
  /** Number of the last good version; null: there is none. */
  readonly from: number | null;
  /** Of a rollback: the version that has failed. */
  readonly failed?: number;
  readonly state: RolloutState;
  /** Why it is paused, has failed, or goes back. */
  readonly reason: Reason | null;
  readonly bootId: string;
  readonly begunMs: number;
  /** Milliseconds since the epoch; null: it has not ended. */
  readonly endedMs: number | null;
  /** No further replica is replaced before. */
  readonly nextAt: Deadline | null;
  readonly replicas: readonly ReplicaRecord[];
}

/** Who asked for it: a user and a process of the host. */
export interface RevisionCaller {
  readonly uid: number;
  readonly pid: number;
  /** Another source than a client, such as a watched file; absent: a client has asked. */
  readonly via?: string | undefined;
}

/** A version of a service without its specs. */
export interface RevisionNote {
  readonly number: number;
  readonly cause: "apply" | "undo" | "restart" | "scale" | "autoupdate";
  /** Of `undo`: the version that it repeats. */
  readonly of?: number;
  readonly by?: RevisionCaller;
  readonly atMs: number;
  /** Fields that differ from the version before, as JSON pointers into the task of the first replica; for a number of replicas "replicas". */
  readonly changed: readonly string[];
  /** unknown: its rollout has not ended, or `partition` has left out all replicas. */
  readonly verdict: "unknown" | "good" | "failed";
  readonly reason: Reason | null;
}

export interface ServiceRecord {
  readonly version: 1;
  readonly group: string;
  readonly name: string;
  /** The newest last. */
  readonly revisions: readonly RevisionNote[];
  /** The current one, or the last. */
  readonly rollout: RolloutRecord;
}

/** The specs of the replicas of one version, by index, and the images that they run. */
export interface RevisionRecord {
  readonly group: string;
  readonly service: string;
  readonly number: number;
  readonly specs: readonly TaskSpec[];
  /** Absent: none were pulled, or an earlier program wrote the record. */
  readonly images?: RevisionImages;
}

/** Returns the specs of a version; undefined: they are not known. */
export type SpecsOf = (number: number) => readonly TaskSpec[] | undefined;

export function serviceKey({ group, name }: Pick<ServiceRecord, "group" | "name">): string {
  return `${group}/${name}`;
}

export function revisionKey({ group, service, number }: Omit<RevisionRecord, "specs" | "images">): string {
  return `${group}/${service}/${number}`;
}

export function isActive({ state }: Pick<RolloutRecord, "state">): boolean {
  return state === "progressing" || state === "paused";
}

/** How replicas are replaced by this rollout. */
export function policyOf({ kind }: Pick<RolloutRecord, "kind">, specs: readonly TaskSpec[]): RolloutPolicy {
  const { update, rollback } = specs[0]!;
  const { reverse, ...given } = update!;
  const own: RolloutPolicy = { ...given, ...(reverse === undefined ? {} : { reverse }) };
  return kind === "rollback" ? { ...own, ...rollback, onFailure: rollback?.onFailure ?? "pause" } : own;
}

/** Ids of new tasks that have failed, or have not worked for the time of `minReady` yet. With start-first the earlier task serves meanwhile. */
export function unprovenTasks({ rollout }: Pick<ServiceRecord, "rollout">, specs: readonly TaskSpec[] | undefined): readonly string[] {
  if (rollout.kind === "create" || specs === undefined || specs.length === 0) return [];
  const { order, minReady } = policyOf(rollout, specs);
  if (order !== "start-first") return [];
  const isTried = ({ state, task, unproven }: ReplicaRecord) =>
    state === "failed" || (state === "waiting" && unproven === task) || (state === "starting" && minReady > 0 && isActive(rollout));
  return rollout.replicas.flatMap((one) => (one.task !== null && isTried(one) ? [one.task] : []));
}

export function isSameVersion(a: readonly TaskSpec[], b: readonly TaskSpec[]): boolean {
  return canonicalJson(a.map(specDigest)) === canonicalJson(b.map(specDigest));
}

export function changedRevision(record: ServiceRecord, number: number, change: Partial<RevisionNote>): ServiceRecord {
  return { ...record, revisions: record.revisions.map((one) => (one.number === number ? { ...one, ...change } : one)) };
}

/** The last version that was good, without this one; null: there is none. */
export function lastGood({ revisions }: Pick<ServiceRecord, "revisions">, without?: number): number | null {
  return revisions.findLast(({ number, verdict }) => verdict === "good" && number !== without)?.number ?? null;
}
