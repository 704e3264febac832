/** A file of tasks that a user applies, compared with what there is: what becomes of each task. Pure. */
import {
  demandOf,
  type HostCapacity,
  hasSucceeded,
  type Instant,
  isInPlace,
  ledgerOf,
  type NewTask,
  newRecord,
  shortages,
  type TaskRecord,
  taskId,
} from "../model/index.ts";
import { dependencyTarget, specDigest, type TaskSpec } from "../spec/index.ts";
import type { Succeeded } from "./codec.ts";
import { EngineError } from "./errors.ts";

/**
 * unchanged: it runs as the file says. updated: other limits, in place. replaced: it is stopped, and the one of the file takes its place. started: it had ended, and
 * runs anew. succeeded: it has done what it was for, and is not run again. removed: it is no longer in the file. absent: the same, but it was not asked to be removed.
 */
export type AppliedChange = "created" | "unchanged" | "updated" | "replaced" | "started" | "succeeded" | "removed" | "absent";

export interface Applied {
  readonly id: string;
  readonly name: string;
  readonly change: AppliedChange;
}

export interface ApplyOptions {
  /** Tasks of the group that are not in the file are removed. */
  readonly prune?: boolean;
  /** One-shots that have succeeded run again. */
  readonly rerun?: boolean;
}

/** What is done for one task, all of it in one transaction. */
export type Step =
  | { readonly type: "add"; readonly record: TaskRecord }
  | { readonly type: "respec"; readonly id: string; readonly spec: TaskSpec; readonly digest: string }
  /** `by`: the task that takes its place; undefined: none does. */
  | { readonly type: "remove"; readonly id: string; readonly by?: string };

export interface ApplyPlan {
  readonly applied: readonly Applied[];
  readonly steps: readonly Step[];
  /** The last revision that was given out. */
  readonly revision: number;
}

export interface Present {
  /** All that there are, in the order in which they were applied. */
  readonly tasks: readonly TaskRecord[];
  readonly succeeded: readonly Succeeded[];
  readonly capacity: HostCapacity;
  readonly revision: number;
  readonly at: Instant;
  /** TaskRecord.cgroup of a new one. */
  readonly cgroupOf: (id: string) => string | null;
}

/** All tasks of the file or none. @throws EngineError no-room */
export function planApply(
  specs: readonly TaskSpec[],
  group: string,
  present: Present,
  { prune = false, rerun = false }: ApplyOptions = {},
): ApplyPlan {
  const applied: Applied[] = [];
  const steps: Step[] = [];
  let { revision } = present;
  const say = (name: string, id: string, change: AppliedChange) => applied.push({ id, name, change });
  for (const { spec, digest, current, done, change } of withFollowers(specs.map((spec) => verdictOf(spec, group, present, rerun)))) {
    if (change === "unchanged") {
      say(spec.name, current!.id, change);
    } else if (change === "updated") {
      mustFit(current!, spec, present);
      steps.push({ type: "respec", id: current!.id, spec, digest });
      say(spec.name, current!.id, change);
    } else if (change === "succeeded") {
      say(spec.name, current?.id ?? done!.task, change);
    } else {
      const id = taskId(group, spec.name, ++revision);
      steps.push(...replacement({ id, group, spec, cgroup: present.cgroupOf(id), at: present.at }, current));
      say(spec.name, id, change);
    }
  }
  const names = new Set(specs.map(({ name }) => name));
  for (const { id, name, isDeleteAsked } of present.tasks.filter((task) => task.group === group && !names.has(task.name))) {
    if (isDeleteAsked) continue;
    if (prune) steps.push({ type: "remove", id });
    say(name, id, prune ? "removed" : "absent");
  }
  return { applied, steps, revision };
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
  const isDone = !rerun && (done?.digest === digest || (current?.digest === digest && hasSucceeded(current)));
  return verdict(isDone ? "succeeded" : current === undefined ? "created" : "started");
}

/** What is to be restarted with a task is replaced with it, and so is what is to be restarted with that. */
function withFollowers(verdicts: readonly Verdict[]): readonly Verdict[] {
  const replaced = new Set(verdicts.flatMap(({ change, spec }) => (change === "replaced" ? [spec.name] : [])));
  const runs = verdicts.filter(({ change }) => change === "unchanged" || change === "updated");
  const all = followersOf(
    replaced,
    runs.map(({ spec }) => spec),
  );
  return verdicts.map((one) => (all.has(one.spec.name) ? { ...one, change: "replaced" } : one));
}

/** Names of those of `specs` that are restarted with one of `names`, or with one that is. */
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

/** What stands for a name: the newest that nobody has deleted. */
export function currentOf(tasks: readonly TaskRecord[], group: string, name: string): TaskRecord | undefined {
  return tasks.findLast((task) => task.group === group && task.name === name && !task.isDeleteAsked);
}

/** A new task, in the place of what there is of its name. */
export function replacement(task: NewTask, current: TaskRecord | undefined): Step[] {
  const { id, spec } = task;
  const order = current === undefined ? "stopFirst" : orderOf(spec, current);
  const record = newRecord({
    ...task,
    replaces: current === undefined ? null : { task: current.id, order },
    previous: current === undefined ? null : lastThatRan(current),
  });
  const isRemovedNow = current !== undefined && (order === "stopFirst" || current.desired === "STOPPED");
  return [{ type: "add", record }, ...(isRemovedNow ? [{ type: "remove", id: current.id, by: id } as const] : [])];
}

/** Both at once is only possible where they do not want the same port. */
function orderOf(spec: TaskSpec, current: TaskRecord): "stopFirst" | "startFirst" {
  const { ports } = demandOf(current.spec);
  const isTaken = demandOf(spec).ports.some((port) => ports.includes(port));
  return spec.replace === "startFirst" && !isTaken ? "startFirst" : "stopFirst";
}

/** A replacement that has failed is not what one wants back. */
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
    demandOf(spec),
  );
  if (missing.length > 0)
    throw new EngineError("no-room", `task ${spec.name} does not fit: ${missing.join("; ")}`, { task: spec.name, missing });
}
