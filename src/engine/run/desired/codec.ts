/** Converts records of the model to rows of the store, and back. */
import {
  CONTAINER_STATUSES,
  isTaskId,
  type PoolRecord,
  RECORD_VERSION,
  REPLICA_STATES,
  RESOURCE_STATUSES,
  type RevisionRecord,
  ROLLOUT_STATES,
  revisionKey,
  revisionOf,
  type ServiceRecord,
  serviceKey,
  TASK_STATUSES,
  type TaskRecord,
  taskIdOf,
  upgradeRecord,
} from "../../model/index.ts";
import { type StoredRecord, StoreError } from "../../store/index.ts";
import type { AttachedInterface } from "../resources/interface-state.ts";
import type { Projects } from "./origin.ts";
import type { Watched } from "./watched-record.ts";

/** Facts about the daemon, kept in one row. */
export interface HostFacts {
  /** Number of times that the daemon was started on this state directory. */
  readonly epoch: number;
  readonly bootId: string;
  /** The highest revision given to any task. Revisions are never given twice, so that task ids are unique. */
  readonly revision: number;
  /** Absent: there are none, as in facts of earlier versions. */
  readonly projects?: Projects;
  /** Likewise. */
  readonly interfaces?: readonly AttachedInterface[];
  /** Likewise. */
  readonly watched?: Watched;
}

/** A one-shot that has succeeded. `apply` does not run it again. */
export interface Succeeded {
  readonly group: string;
  readonly name: string;
  readonly digest: string;
  /** Id of the task that succeeded. */
  readonly task: string;
  readonly wallMs: number;
}

export function succeededKey({ group, name }: Pick<Succeeded, "group" | "name">): string {
  return `${group}/${name}`;
}

export function succeededRow(succeeded: Succeeded): StoredRecord {
  return { kind: "succeeded", key: succeededKey(succeeded), content: JSON.stringify(succeeded) };
}

export function succeededIn(records: readonly StoredRecord[]): Succeeded[] {
  return records.filter(({ kind }) => kind === "succeeded").map(({ content }) => JSON.parse(content) as Succeeded);
}

export function serviceRow(service: ServiceRecord): StoredRecord {
  return { kind: "service", key: serviceKey(service), content: JSON.stringify(service) };
}

export function revisionRow(revision: RevisionRecord): StoredRecord {
  return { kind: "revision", key: revisionKey(revision), content: JSON.stringify(revision) };
}

/** By serviceKey. */
export function servicesIn(records: readonly StoredRecord[]): Map<string, ServiceRecord> {
  return new Map(records.flatMap(({ kind, key, content }) => (kind === "service" ? [[key, JSON.parse(content) as ServiceRecord]] : [])));
}

/** By revisionKey. */
export function revisionsIn(records: readonly StoredRecord[]): Map<string, RevisionRecord> {
  return new Map(records.flatMap(({ kind, key, content }) => (kind === "revision" ? [[key, JSON.parse(content) as RevisionRecord]] : [])));
}

export function poolRow(pool: PoolRecord): StoredRecord {
  return { kind: "pool", key: pool.id, content: JSON.stringify(pool) };
}

/** By id. */
export function poolsIn(records: readonly StoredRecord[]): Map<string, PoolRecord> {
  return new Map(records.flatMap(({ kind, key, content }) => (kind === "pool" ? [[key, JSON.parse(content) as PoolRecord]] : [])));
}

const HOST_KEY = "facts";

export function taskRow(record: TaskRecord): StoredRecord {
  return { kind: "task", key: record.id, content: JSON.stringify(record) };
}

export function hostRow(facts: HostFacts): StoredRecord {
  return { kind: "host", key: HOST_KEY, content: JSON.stringify(facts) };
}

export function hostFactsIn(records: readonly StoredRecord[]): HostFacts | undefined {
  const row = records.find(({ kind, key }) => kind === "host" && key === HOST_KEY);
  return row && (JSON.parse(row.content) as HostFacts);
}

/** A file or directory. */
export interface Inode {
  readonly device: string;
  readonly inode: string;
}

/** Where a store is (place.ts). */
export interface Place {
  /** Of the store, at random. A copy that becomes a store of its own gets another one. */
  readonly id: string;
  readonly directory: Inode;
  readonly database: Inode;
  /** Of the directory, without links. */
  readonly path: string;
  /** In another boot a device may have another number. */
  readonly bootId: string;
}

const PLACE_KEY = "place";

export function placeRow(place: Place): StoredRecord {
  return { kind: "host", key: PLACE_KEY, content: JSON.stringify(place) };
}

/** undefined: the store is new, or of a version that did not record it. */
export function placeIn(records: readonly StoredRecord[]): Place | undefined {
  const row = records.find(({ kind, key }) => kind === "host" && key === PLACE_KEY);
  return row && (JSON.parse(row.content) as Place);
}

/** All tasks, in the order in which they were applied. @throws StoreError newer-schema: a newer program wrote one of the rows */
export function tasksIn(records: readonly StoredRecord[], path: string): TaskRecord[] {
  return records
    .filter(({ kind }) => kind === "task")
    .map(({ key, content }) => {
      const record = JSON.parse(content) as TaskRecord;
      if (record.version > RECORD_VERSION)
        throw new StoreError(
          "newer-schema",
          path,
          `the record of task ${key} is version ${record.version}, and this program knows ${RECORD_VERSION}`,
        );
      return upgradeRecord(record);
    })
    .sort((a, b) => revisionOf(a.id) - revisionOf(b.id));
}

/** Whether this program can work with a row of the store. Its checksum is right: another program may have written it, or it was put there by hand. */
const DESIRED = ["RUNNING", "STOPPED"];
const STEADY = ["RUNNING", "RESOURCES_PROVISIONED"];

/** A task of a newer program counts as usable: that one is refused by name. */
export function isUsable({ kind, key, content }: StoredRecord): boolean {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== "object" || value === null) return false;
    if (kind === "service") return isService(value as ServiceRecord, key);
    if (kind === "revision") return isRevision(value as RevisionRecord, key);
    if (kind === "pool") return isPoolRecord(value as PoolRecord, key);
    return kind !== "task" || isTask(value as TaskRecord, key);
  } catch {
    // It is no JSON, or parts of it are missing.
    return false;
  }
}

/** A status that nobody knows would end each decision about the task with an error, so that it could neither be stopped nor deleted. */
function isTask({ version, id, spec, known, desired, containers, resources, leftovers }: TaskRecord, key: string): boolean {
  if ((version as number) > RECORD_VERSION) return true;
  return (
    id === key &&
    isOf(TASK_STATUSES, known) &&
    isOf(DESIRED, desired) &&
    Array.isArray(spec.containers) &&
    Array.isArray(leftovers) &&
    containers.every(
      (one) =>
        isOf(CONTAINER_STATUSES, one.known) &&
        isAppliedIn(CONTAINER_STATUSES, one) &&
        isOf(DESIRED, one.desired) &&
        isOf(STEADY, one.steady),
    ) &&
    resources.every((one) => isOf(RESOURCE_STATUSES, one.known) && isAppliedIn(RESOURCE_STATUSES, one))
  );
}

/** A service of which nobody knows the state has no rollout; its tasks go on. */
function isService(service: ServiceRecord, key: string): boolean {
  const { rollout, revisions } = service;
  return (
    service.version === 1 &&
    serviceKey(service) === key &&
    isOf(ROLLOUT_STATES, rollout.state) &&
    rollout.replicas.every((one) => isOf(REPLICA_STATES, one.state)) &&
    revisions.every((one) => Number.isInteger(one.number))
  );
}

function isRevision(revision: RevisionRecord, key: string): boolean {
  return (
    revisionKey(revision) === key &&
    revision.specs.every(({ containers, update }) => Array.isArray(containers) && update !== undefined) &&
    Object.values(revision.images ?? {}).every((one) => typeof one.digest === "string" && typeof one.manifest === "string")
  );
}

function isPoolRecord({ version, id, group, name, spec, users }: PoolRecord, key: string): boolean {
  const isNamed = isTaskId(key) && taskIdOf(key) === key && key.startsWith(`${group}.${name}.`);
  return version === 1 && id === key && isNamed && spec.kind === "Pool" && Number.isInteger(spec.size) && Number.isInteger(users.first);
}

const isOf = (words: readonly string[], word: string): boolean => words.includes(word);

const isAppliedIn = (words: readonly string[], { applied }: { readonly applied: string | null }): boolean =>
  applied === null || words.includes(applied);
