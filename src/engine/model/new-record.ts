/** Builds the record of a task that was just applied. */
import { hasOwnNetwork, specDigest, type TaskSpec } from "../spec/index.ts";
import { type CheckStates, newChecks } from "./checks.ts";
import { PAUSE_NAME, runtimeId } from "./ids.ts";
import { NETWORK } from "./network.ts";
import { type ContainerRecord, type ContainerType, type Leftover, RECORD_VERSION, type ResourceRecord, type TaskRecord } from "./record.ts";
import type { RevisionImages } from "./revision-images.ts";
import type { Instant } from "./time.ts";

/** Name of the scratch directory in which the log router of a task makes its socket. No volume of a task file can have this name. */
export const ROUTER_VOLUME = ".log-router";

/** Name of the resource of a task with users of its own. */
export const USERS = "users";

export interface NewTask {
  /** Made by taskId (ids.ts). */
  readonly id: string;
  readonly group: string;
  readonly spec: TaskSpec;
  /** The value of TaskRecord.cgroup that follows from the engine's settings. */
  readonly cgroup: string | null;
  readonly at: Instant;
  readonly from?: string | undefined;
  /** Of a task with users of its own. */
  readonly users?: TaskRecord["users"];
  readonly replaces?: TaskRecord["replaces"];
  readonly previous?: TaskRecord["previous"];
  readonly run?: TaskRecord["run"];
  /** Images that its containers get without a question to their source. Absent: each is pulled. */
  readonly images?: RevisionImages | undefined;
}

export function newRecord({
  id,
  group,
  spec,
  cgroup: own,
  at,
  from,
  users,
  replaces = null,
  previous = null,
  run,
  images,
}: NewTask): TaskRecord {
  // A task with a schedule needs nothing of the host: its runs do.
  const isScheduled = spec.schedule !== undefined;
  const cgroup = isScheduled ? null : own;
  return {
    version: RECORD_VERSION,
    id,
    group,
    name: spec.name,
    generation: 1,
    spec,
    digest: specDigest(spec),
    cgroup,
    desired: "RUNNING",
    known: "NONE",
    sent: null,
    admission: isScheduled ? "released" : "waiting",
    waiting: null,
    reason: null,
    bootId: at.bootId,
    createdAt: at,
    stoppedAt: null,
    cleanup: null,
    isDeleteAsked: false,
    replaces,
    previous,
    pulls: null,
    isSwept: false,
    ...(from === undefined ? {} : { from }),
    ...(users === undefined ? {} : { users }),
    ...(run === undefined ? {} : { run }),
    resources: isScheduled ? [] : newResources(spec, cgroup),
    containers: isScheduled ? [] : newContainers(id, spec, images),
    leftovers: [],
  };
}

function newContainers(id: string, spec: TaskSpec, images: RevisionImages = {}): ContainerRecord[] {
  return [
    ...(Object.values(spec.namespaces).includes("shared")
      ? [newContainer(id, { name: PAUSE_NAME, type: "namespacePause", essential: true, checks: newChecks(undefined) }, 1)]
      : []),
    ...spec.containers.map(
      (one): ContainerRecord => ({
        ...newContainer(id, { name: one.name, type: "normal", essential: one.essential, checks: newChecks(one) }, 1),
        image: (one.image === undefined ? undefined : images[one.image]) ?? null,
      }),
    ),
  ];
}

export function newResources(spec: TaskSpec, cgroup: string | null): ResourceRecord[] {
  const none = { known: "NONE", applied: null, failures: 0, nextTry: null } as const;
  return [
    ...(cgroup !== null ? [{ name: "cgroup", kind: "cgroup", ...none } as const] : []),
    ...(spec.privateUsers ? [{ name: USERS, kind: "users", ...none } as const] : []),
    ...(hasOwnNetwork(spec) ? [{ name: NETWORK, kind: "network", ...none } as const] : []),
    ...spec.volumes
      .filter(({ host }) => host === undefined || spec.hostPaths !== undefined)
      .map(({ name }) => ({ name: `volume:${name}`, kind: "volume", ...none }) as const),
    ...(spec.containers.some(({ logRouter }) => logRouter) ? [{ name: `volume:${ROUTER_VOLUME}`, kind: "volume", ...none } as const] : []),
  ];
}

interface Shape {
  readonly name: string;
  readonly type: ContainerType;
  readonly essential: boolean;
  readonly checks: CheckStates;
}

export function newContainer(task: string, { name, type, essential, checks }: Shape, generation: number): ContainerRecord {
  return {
    name,
    type,
    essential,
    steady: "RUNNING",
    generation,
    runtimeId: runtimeId(task, name, generation),
    desired: "RUNNING",
    known: "NONE",
    applied: null,
    sent: null,
    isUnsure: false,
    image: null,
    startedAt: null,
    stoppedAt: null,
    exit: null,
    reason: null,
    ...checks,
    restarts: 0,
    shortRuns: 0,
    restartAt: null,
    isRestartAsked: false,
    blockedSince: null,
    stop: { failures: 0, nextTry: null },
    preStop: "waiting",
    isStrayStopped: false,
    update: null,
  };
}

// Builds the record of a task that runs and that the store does not know, from its spec and the
// containers that exist.

/** The copy of a task's spec that is kept beside the store for tasks that have containers. */
export interface SpecCopy {
  readonly id: string;
  readonly group: string;
  readonly spec: TaskRecord["spec"];
  readonly cgroup: string | null;
  readonly users?: TaskRecord["users"];
  readonly createdAt: Instant;
}

/** An incarnation of a container that the runtime knows. */
export interface FoundIncarnation {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

/** The starts of `found` count as in flight, so that each must be `lookedUp`. All other containers count as not created. */
export function adoptedRecord(
  { id, group, spec, cgroup, users, createdAt }: SpecCopy,
  found: readonly FoundIncarnation[],
  at: Instant,
): TaskRecord {
  const record = newRecord({ id, group, spec, cgroup, at, users });
  const newest = (name: string) =>
    found
      .filter(({ container }) => container === name)
      .reduce<FoundIncarnation | undefined>((a, b) => (a && a.generation > b.generation ? a : b), undefined);
  const containers = record.containers.map((one): ContainerRecord => {
    const it = newest(one.name);
    return it === undefined ? one : { ...one, generation: it.generation, runtimeId: it.runtimeId, known: "CREATED", applied: "RUNNING" };
  });
  const current = new Set(containers.map(({ runtimeId }) => runtimeId));
  return {
    ...record,
    createdAt,
    admission: "admitted",
    resources: record.resources.map((one) => ({ ...one, known: "CREATED" })),
    containers,
    leftovers: found.flatMap((one): Leftover[] =>
      current.has(one.runtimeId) ? [] : [{ ...one, isRemoving: false, failures: 0, nextTry: null }],
    ),
  };
}

// Upgrades records of earlier versions of this program.

/** Accepts version 1 and later. Fields that were added since get their empty value. */
export function upgradeRecord(record: TaskRecord): TaskRecord {
  if ((record.version as number) >= RECORD_VERSION) return record;
  const { containers } = record;
  return {
    ...record,
    version: RECORD_VERSION,
    // Early records of this version lack the field, because their tasks had no cgroup of their own.
    cgroup: record.cgroup ?? null,
    replaces: record.replaces ?? null,
    previous: record.previous ?? null,
    pulls: null,
    containers: containers.map((one) => ({ ...one, preStop: one.preStop ?? "waiting", update: one.update ?? null, image: null })),
  };
}
