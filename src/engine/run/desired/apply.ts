/** Compares a task file with the tasks that exist, and plans what happens to each task. Pure. */
import {
  demandOf,
  type HostCapacity,
  hasSucceeded,
  type Instant,
  isInPlace,
  ledgerOf,
  type NewTask,
  newRecord,
  type Reason,
  type RevisionImages,
  reason,
  shortages,
  type TaskRecord,
  taskId,
  type UserRange,
  UserRanges,
} from "../../model/index.ts";
import { collide, dependencyTarget, earlierDigest, replicaOf, specDigest, type TaskSpec } from "../../spec/index.ts";
import { EngineError, invalidSpec } from "../errors.ts";
import type { Succeeded } from "./codec.ts";
import { type FieldDifference, fieldDifferences } from "./differences.ts";
import { checkVolumes } from "./kept.ts";
import { checkOrigin, type Origin } from "./origin.ts";
import { withPorts } from "./ports.ts";
import { servicesOf, type Version } from "./versions.ts";

/**
 * unchanged: the task runs as the file says. updated: its limits are changed in place. replaced: it is stopped, and a new task
 * takes its place. rolling: the rollout of its service replaces it when it is its turn. started: it had ended, and runs again. succeeded: it is a one-shot that has succeeded, and is not run again.
 * removed: the file no longer has it. absent: the file no longer has it, but `prune` was not set, so that it stays.
 */
export type AppliedChange = "created" | "unchanged" | "updated" | "replaced" | "rolling" | "started" | "succeeded" | "removed" | "absent";

export interface Applied {
  /** Absent: it is a task. */
  readonly kind?: "pool" | undefined;
  readonly id: string;
  readonly name: string;
  readonly change: AppliedChange;
  /** The service of which it is a replica; absent: it is none, or the file does not have it. */
  readonly service?: string | undefined;
  /** The version to which the rollout of that service leads. Absent: nothing was asked of it, as in a plan. */
  readonly revision?: number | undefined;
}

export interface ApplyOptions extends Origin {
  /** Remove tasks of the group that the file does not have. */
  readonly prune?: boolean;
  /** Run one-shots again that have already succeeded. */
  readonly rerun?: boolean;
  /** Networks of the whole host in which a task has to be. */
  readonly networks?: readonly string[] | undefined;
}

/** One step of a plan. All steps of a task are stored in one transaction. */
export type Step =
  | { readonly type: "add"; readonly record: TaskRecord }
  | { readonly type: "respec"; readonly id: string; readonly spec: TaskSpec; readonly digest: string }
  /** The replicas of a service become these, step by step. */
  | ({ readonly type: "roll"; readonly service: string } & Pick<Version, "specs" | "images" | "isStale" | "isForced">)
  /** It comes from this file or project from now on. */
  | { readonly type: "adopt"; readonly id: string; readonly from: string }
  /** `by`: id of the task that takes its place; undefined: no task does. `why` undefined: a user has asked for it. `volumes`: its kept volumes go, too. */
  | { readonly type: "remove"; readonly id: string; readonly by?: string; readonly why?: Reason; readonly volumes?: boolean };

export interface ApplyPlan {
  readonly applied: readonly Applied[];
  readonly steps: readonly Step[];
  /** The highest revision that was ever given to a task. */
  readonly revision: number;
}

export interface Present {
  /** All tasks, in the order in which they were applied. */
  readonly tasks: readonly TaskRecord[];
  readonly succeeded: readonly Succeeded[];
  readonly capacity: HostCapacity;
  readonly revision: number;
  readonly at: Instant;
  /** Ids of the host for tasks with users of their own. */
  readonly users: UserRange;
  /** The directory whose Compose project a group is. */
  readonly projectOf: (group: string) => string | undefined;
  /** Whether a group has a kept volume of this name on the disk. */
  readonly isKept: (group: string, name: string) => boolean;
  /** Returns the value of TaskRecord.cgroup for a new task. */
  readonly cgroupOf: (id: string, spec: TaskSpec) => string | null;
  /** All pools, with those of the file. They have ids of the host, too. */
  readonly pools?: readonly Pick<TaskRecord, "users">[];
  /** Returns the images of which replicas of a service are made. undefined: they pull as their policies say. Default: they do. */
  readonly imagesKept?:
    | ((of: { readonly group: string; readonly name: string }, specs: readonly TaskSpec[]) => RevisionImages | undefined)
    | undefined;
  /** Whether the file has pools beside its tasks. */
  readonly hasPools?: boolean;
}

const PRUNES_ALL = "the file has no task, and with prune every task of the group would be removed: delete all of them if that is meant";

/** Plans either all tasks of the file or none. @throws EngineError invalid-spec, no-room, other-origin, unknown-network, unknown-volume */
export function planApply(
  written: readonly TaskSpec[],
  group: string,
  present: Present,
  { prune = false, rerun = false, networks = [], ...origin }: ApplyOptions = {},
): ApplyPlan {
  // A file that only has what others refer to would remove the whole group.
  if (prune && written.length === 0 && !present.hasPools)
    throw invalidSpec([{ code: "combination", message: PRUNES_ALL, pointer: "", document: 0, line: 1, column: 1 }]);
  const specs = withPorts(written, group, present.tasks);
  const names = new Set(specs.map(({ name }) => name));
  const { from } = origin;
  checkOrigin(origin, { group, tasks: present.tasks, project: present.projectOf(group) }, (name) => prune || names.has(name));
  checkNetworks(networks, present.tasks);
  checkVolumes(specs, group, present);
  const applied: Applied[] = [];
  const steps: Step[] = [];
  let { revision } = present;
  const ranges = new UserRanges([...present.tasks, ...(present.pools ?? [])], present.users);
  const forced = new Set<string>();
  const stale = new Set<string>();
  const services = new Map(specs.map((spec) => [spec.name, replicaOf(spec)?.service]));
  const replicasOf = servicesOf(specs);
  const imagesOf = new Map(
    [...replicasOf].map(([service, replicas]) => [service, present.imagesKept?.({ group, name: service }, replicas)]),
  );
  const say = (name: string, id: string, change: AppliedChange) => {
    const service = services.get(name);
    applied.push({ id, name, change, ...(service === undefined ? {} : { service }) });
  };
  for (const { spec, digest, current, done, change } of withFollowers(specs.map((spec) => verdictOf(spec, group, present, rerun)))) {
    const service = services.get(spec.name);
    if (from !== undefined && current !== undefined && current.from !== from) steps.push({ type: "adopt", id: current.id, from });
    if (change === "unchanged") {
      say(spec.name, current!.id, change);
    } else if (change === "updated") {
      mustFit(current!, spec, present);
      steps.push({ type: "respec", id: current!.id, spec, digest });
      say(spec.name, current!.id, change);
    } else if (change === "replaced" && service !== undefined) {
      (current!.digest === digest ? forced : stale).add(service);
      say(spec.name, current!.id, "rolling");
    } else if (change === "succeeded") {
      say(spec.name, current?.id ?? done!.task, change);
    } else {
      const id = taskId(group, spec.name, ++revision);
      const images = service === undefined ? undefined : imagesOf.get(service);
      const task = { id, group, spec, cgroup: present.cgroupOf(id, spec), at: present.at, from, images, ...usersFor(spec, ranges) };
      steps.push(...replacement(task, current));
      say(spec.name, id, change);
    }
  }
  for (const [service, replicas] of replicasOf) {
    const isForced = forced.has(service);
    const images = isForced ? undefined : imagesOf.get(service);
    steps.push({ type: "roll", service, specs: replicas, images, isStale: stale.has(service), isForced });
  }
  const others = present.tasks.filter((task) => task.group === group && !names.has(task.name) && !task.isDeleteAsked);
  const rolled = new Set(services.values());
  for (const { id, name, spec } of others.filter((task) => !isOfSchedule(task, present.tasks))) {
    // The file says how many replicas its services have.
    const service = replicaOf(spec)?.service;
    const isSurplus = service !== undefined && rolled.has(service);
    if (isSurplus) services.set(name, service);
    if (isSurplus) steps.push({ type: "remove", id, why: scaledDown(service, specs) });
    else if (prune) steps.push({ type: "remove", id });
    say(name, id, prune || isSurplus ? "removed" : "absent");
  }
  return { applied, steps, revision };
}

/** Why a replica is removed that a version of its service does not have. @param specs of the version, and perhaps of other tasks */
export function scaledDown(service: string, specs: readonly TaskSpec[]): Reason {
  const count = specs.filter((spec) => replicaOf(spec)?.service === service).length;
  return reason("ScaledDown", `the service ${service} has ${count} ${count === 1 ? "replica" : "replicas"}`);
}

/** The runs of a schedule come and go with it. */
function isOfSchedule({ group, run }: TaskRecord, tasks: readonly TaskRecord[]): boolean {
  return run !== undefined && currentOf(tasks, group, run.of)?.spec.schedule !== undefined;
}

/** A network is there as long as a task is in it, whether that runs or not. */
function checkNetworks(wanted: readonly string[], tasks: Present["tasks"]): void {
  const there = new Set(
    tasks.flatMap(({ spec: { network }, isDeleteAsked }) =>
      network === undefined || isDeleteAsked
        ? []
        : [network, ...(network.further ?? [])].flatMap(({ name, shared }) => (shared && name !== undefined ? [name] : [])),
    ),
  );
  const networks = wanted.filter((name) => !there.has(name));
  if (networks.length > 0)
    throw new EngineError(
      "unknown-network",
      `there is no network ${networks.join(", ")} on this host: apply the project first that makes it, or make it with --make-networks`,
      { networks },
    );
}

/** The users of a new task. @throws EngineError no-room */
export function usersFor(spec: TaskSpec, ranges: UserRanges): Pick<NewTask, "users"> {
  if (spec.schedule !== undefined) return {};
  const users = ranges.take(spec);
  if (users === "full") throw new EngineError("no-room", `task ${spec.name} does not fit: no range of users is free`, { task: spec.name });
  return users === "none" ? {} : { users };
}

interface Verdict {
  readonly spec: TaskSpec;
  readonly digest: string;
  readonly current: TaskRecord | undefined;
  readonly done: Succeeded | undefined;
  readonly change: "created" | "unchanged" | "updated" | "replaced" | "started" | "succeeded";
}

function verdictOf(spec: TaskSpec, group: string, { tasks, succeeded }: Present, rerun: boolean): Verdict {
  const digest = specDigest(spec);
  const current = currentOf(tasks, group, spec.name);
  const done = succeeded.find((one) => one.group === group && one.name === spec.name);
  const verdict = (change: Verdict["change"]) => ({ spec, digest, current, done, change });
  if (current?.desired === "RUNNING") {
    if (current.digest === digest) return verdict("unchanged");
    return verdict(isInPlace(current.spec, spec) ? "updated" : "replaced");
  }
  const isSame = (other: string | undefined) => other !== undefined && (other === digest || other === earlierDigest(spec));
  const isDone = !rerun && isRemembered(spec) && (isSame(done?.digest) || (isSame(current?.digest) && hasSucceeded(current!)));
  return verdict(isDone ? "succeeded" : current === undefined ? "created" : "started");
}

/** Whether a success of the task counts. One that is needed again runs again. */
export function isRemembered({ start, remember }: TaskSpec): boolean {
  return start !== "needed" && remember !== false;
}

/** A task that is replaced also replaces every task that is to be restarted together with it, transitively. */
function withFollowers(verdicts: readonly Verdict[]): readonly Verdict[] {
  const replaced = new Set(verdicts.flatMap(({ change, spec }) => (change === "replaced" ? [spec.name] : [])));
  const runs = verdicts.filter(({ change }) => change === "unchanged" || change === "updated");
  const all = followersOf(
    replaced,
    runs.map(({ spec }) => spec),
  );
  return verdicts.map((one) => (all.has(one.spec.name) ? { ...one, change: "replaced" } : one));
}

/** The names of those `specs` that are to be restarted together with one of `names`, transitively. */
export function followersOf(names: ReadonlySet<string>, specs: readonly TaskSpec[]): ReadonlySet<string> {
  const found = new Set<string>();
  const follows = ({ name, containers }: TaskSpec) =>
    containers.some(({ dependsOn }) =>
      dependsOn.some((one) => {
        const { task } = dependencyTarget(name, one);
        return one.restart && task !== name && (names.has(task) || found.has(task));
      }),
    );
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const spec of specs) if (!names.has(spec.name) && follows(spec)) found.add(spec.name);
  }
  return found;
}

/** The current task of a name: the newest one that was not deleted. */
export function currentOf(tasks: readonly TaskRecord[], group: string, name: string): TaskRecord | undefined {
  return tasks.findLast((task) => task.group === group && task.name === name && !task.isDeleteAsked);
}

/**
 * The steps that add a new task and remove the current one of its name.
 * @param previous what a rollback of the new one returns to @param rolledOut the order of a rollout, which ends the current one itself
 */
export function replacement(
  task: NewTask,
  current: TaskRecord | undefined,
  previous = current === undefined ? null : lastThatRan(current),
  rolledOut?: "stopFirst" | "startFirst",
): Step[] {
  const { id, spec } = task;
  const order = rolledOut ?? (current === undefined ? "stopFirst" : orderOf(spec, current));
  const from = task.from ?? current?.from;
  const record = newRecord({
    ...task,
    ...(from === undefined ? {} : { from }),
    replaces: current === undefined ? null : { task: current.id, order, ...(rolledOut === undefined ? {} : { isRolledOut: true }) },
    previous,
  });
  const isRemovedNow = current !== undefined && (order === "stopFirst" || current.desired === "STOPPED");
  return [{ type: "add", record }, ...(isRemovedNow ? [{ type: "remove", id: current.id, by: id } as const] : [])];
}

/** Both tasks can only run at the same time if they do not use the same port. */
function orderOf(spec: TaskSpec, current: TaskRecord): "stopFirst" | "startFirst" {
  const { ports } = demandOf(current);
  const isTaken = demandOf({ spec, group: current.group }).ports.some((port) => ports.some((one) => collide(one, port)));
  return spec.replace === "startFirst" && !isTaken ? "startFirst" : "stopFirst";
}

/** The spec to return to on rollback. A replacement that failed is skipped. */
function lastThatRan({ spec, digest, previous, containers }: TaskRecord): TaskRecord["previous"] {
  return containers.every(({ startedAt }) => startedAt !== null) ? { spec, digest } : (previous ?? { spec, digest });
}

function mustFit(current: TaskRecord, spec: TaskSpec, { tasks, capacity }: Present): void {
  if (current.admission !== "admitted") return;
  const missing = shortages(
    ledgerOf(
      tasks.filter(({ id }) => id !== current.id),
      capacity,
    ),
    demandOf({ spec, group: current.group }),
  );
  if (missing.length > 0)
    throw new EngineError("no-room", `task ${spec.name} does not fit: ${missing.join("; ")}`, { task: spec.name, missing });
}

/** What applying a file would change. */
export interface TaskDifference {
  /** Absent: it is a task. */
  readonly kind?: "pool" | undefined;
  readonly name: string;
  readonly change: AppliedChange;
  /** For a task that exists and is changed: every field that differs, by JSON pointer into the normalised spec. A side on which the field is missing is absent. */
  readonly fields: readonly FieldDifference[];
}

/** The tasks of the file in its order, followed by those that only exist on the host. @throws EngineError no-room */
export function differenceOf(written: readonly TaskSpec[], group: string, present: Present, options: ApplyOptions): TaskDifference[] {
  const specs = withPorts(written, group, present.tasks);
  return planApply(specs, group, present, options).applied.map(({ name, change }) => {
    const before = currentOf(present.tasks, group, name)?.spec;
    const now = specs.find((spec) => spec.name === name);
    return { name, change, fields: before === undefined || now === undefined ? [] : fieldDifferences(before, now, "") };
  });
}
