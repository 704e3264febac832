/** Requests of users, applied to the draft of a turn. If a request throws, the turn takes back what it has changed until then (Draft.attempt). */
import {
  decideSchedule,
  type NewTask,
  newRecord,
  type RevisionImages,
  reason,
  runSpecs,
  type TaskEvent,
  type TaskRecord,
  taskId,
  UserRanges,
} from "../../model/index.ts";
import { replicaOf, type TaskSpec } from "../../spec/index.ts";
import { EngineError, nothingToRestart, notRunning, ofService, unknownTask } from "../errors.ts";
import {
  type Applied,
  type ApplyOptions,
  currentOf,
  followersOf,
  type Present,
  planApply,
  replacement,
  type Step,
  usersFor,
} from "./apply.ts";
import { type HostFacts, succeededKey } from "./codec.ts";
import type { Draft } from "./draft.ts";
import type { Caller, ChangeRequest, WatchEvent } from "./journal.ts";
import { keptVolumes, ownVolumes } from "./kept.ts";
import { isToRun, type Restart, restartOf, taskNamed } from "./named.ts";
import { checkOrigin, projectsIn } from "./origin.ts";
import { carryOutPools, deletePool, deletePools, planPools } from "./pools.ts";
import { withPorts } from "./ports.ts";
import { runsRemovedWith, withRuns } from "./runs.ts";
import type { Deleted, Restarted, Selected, Selection } from "./selection.ts";
import { type Replace, Services } from "./services.ts";
import type { Specs } from "./specs.ts";

export interface CommandsOptions extends Pick<Present, "capacity" | "cgroupOf" | "users"> {
  /** Whether the group has kept volumes. */
  readonly hasVolumes: (group: string) => boolean;
  readonly isKept: Present["isKept"];
  /** The caller to record in the journal; undefined: the engine itself makes the request. */
  readonly by: Caller | undefined;
}

export class Commands {
  readonly #draft: Draft;
  readonly #options: CommandsOptions;
  /** The highest revision given to any task. */
  revision: number;

  constructor(draft: Draft, options: CommandsOptions, revision: number) {
    this.#draft = draft;
    this.#options = options;
    this.revision = revision;
  }

  get facts(): HostFacts {
    return this.#draft.facts;
  }

  set facts(facts: HostFacts) {
    this.#draft.facts = facts;
  }

  get tasks(): readonly TaskRecord[] {
    return this.#draft.all();
  }

  readonly tell = (event: Omit<WatchEvent, "wallMs">): void => this.#draft.tell(event);

  /** @throws EngineError no-room, other-origin, unknown-network, unknown-volume */
  apply({ tasks: specs, pools: wanted }: Specs, group: string, options: ApplyOptions): readonly Applied[] {
    const { at } = this.#draft;
    const newId = (name: string) => taskId(group, name, ++this.revision);
    const before = this.#draft.pools.values();
    const ofPools = planPools(wanted, group, { pools: before, ranges: this.#ranges(), newId, atMs: at.wallMs }, options);
    const pools = { pools: [...before, ...ofPools.added], hasPools: wanted.length > 0 };
    const succeeded = [...this.#draft.succeeded().values()];
    const tasks = this.#draft.all();
    const { projects = {} } = this.facts;
    const projectOf = projectsIn(projects, tasks, this.#options.hasVolumes);
    const imagesKept: Present["imagesKept"] = (of, replicas) => this.services.imagesKept(of, replicas);
    const present = { ...this.#options, ...pools, projectOf, tasks, succeeded, revision: this.revision, at, imagesKept };
    const plan = planApply(specs, group, present, options);
    carryOutPools(this.#draft, ofPools, this.#options.by);
    this.revision = plan.revision;
    const { from, isProject = false } = options;
    if (isProject && from !== undefined && projects[group] !== from)
      this.facts = { ...this.facts, projects: { ...projects, [group]: from } };
    this.#carryOut("apply", plan.steps);
    const revisions = new Map<string, number>();
    for (const step of plan.steps)
      if (step.type === "roll") revisions.set(step.service, this.services.roll({ group, name: step.service, cause: "apply", ...step }));
    const applied = plan.applied.map((one) => (one.service === undefined ? one : { ...one, revision: revisions.get(one.service) }));
    return [...applied, ...ofPools.applied];
  }

  /** @throws EngineError unknown-task */
  delete(name: string, group: string): readonly string[] {
    const all = this.#draft.all();
    const found = withRuns(
      all.filter((one) => one.id === name || (one.group === group && one.name === name)),
      all,
    );
    if (found.length === 0 && !this.#draft.succeeded().has(succeededKey({ group, name }))) throw unknownTask(name, group, all);
    this.#carryOut(
      "delete",
      found.map(({ id }) => ({ type: "remove", id })),
    );
    for (const of of [{ group, name }, ...found]) this.#draft.forget(of);
    return found.map(({ id }) => id);
  }

  /**
   * All of them or none. A success that is remembered counts as a task.
   * @param volumes also the kept volumes of these tasks that no other one of the group names. @throws EngineError unknown-task
   */
  deleteAll(selection: Selection, group: string, volumes = false): Deleted {
    const done = [...this.#draft.succeeded().values()].filter((one) => one.group === group).map(({ name }) => name);
    const selected = this.#select(selection, group, done);
    const going = selected.tasks.map(({ id }) => this.#draft.get(id)!);
    this.#carryOut(
      "delete",
      going.map(({ id }) => ({ type: "remove", id, volumes })),
    );
    // An id may be of another group.
    for (const { id, name } of selected.tasks) this.#draft.forget({ group: this.#draft.get(id)?.group ?? group, name });
    for (const name of selected.forgotten) this.#draft.forget({ group, name });
    const stays = new Set(
      this.#draft.all().flatMap((one) => (one.isDeleteAsked ? [] : keptVolumes(one).map((name) => `${one.group}/${name}`))),
    );
    const named = going.flatMap((one) => ownVolumes(one).filter((name) => !stays.has(`${one.group}/${name}`)));
    const ofFile = selection === "all" ? "all" : (selection.pools ?? []);
    const pools = deletePools(this.#draft, group, ofFile, "drain", this.#options.by);
    return { ...selected, pools, volumes: volumes ? [...new Set(named)] : [] };
  }

  /** @throws EngineError unknown-pool */
  deletePool(name: string, group: string, how: "drain" | "kill"): void {
    deletePool(this.#draft, name, group, how, this.#options.by);
  }

  #ranges(): UserRanges {
    return new UserRanges([...this.#draft.all(), ...this.#draft.pools.values()], this.#options.users);
  }

  /** All of them or none. @throws EngineError unknown-task */
  stopAll(selection: Selection, group: string): Selected {
    const selected = this.#select(selection, group, []);
    this.#stop(selected.tasks);
    return selected;
  }

  /** @throws EngineError unknown-task */
  stop(name: string, group: string): string {
    const found = this.#named(name, group);
    this.#stop(withRuns([found], this.#draft.all()));
    return found.id;
  }

  /** Also restarts the containers that are to be restarted with these. @throws EngineError unknown-task, unknown-container, not-running */
  restart(name: string, group: string, containers: readonly string[]): string {
    const { id, desired, spec, group: own } = this.#named(name, group);
    const all = spec.containers.map((one) => one.name);
    const unknown = containers.find((one) => !all.includes(one));
    if (unknown !== undefined) throw new EngineError("unknown-container", `task ${name} has no container ${unknown}`, { containers: all });
    if (desired === "STOPPED") throw notRunning(name, { id });
    if (spec.schedule !== undefined) throw nothingToRestart(name);
    this.#restart([{ id, name: spec.name, group: own, containers: containers.length === 0 ? all : containers }]);
    return id;
  }

  /**
   * Restarts all containers of these tasks, and those that are to be restarted with them. One that is named and has stopped is an error; otherwise it stays as it is.
   * @throws EngineError unknown-task, not-running
   */
  restartAll(selection: Selection, group: string): Restarted {
    const selected = this.#select(selection, group, []);
    const runs = selected.tasks.map(({ id }) => this.#draft.get(id)!).filter((one) => isToRun(one) && one.spec.schedule === undefined);
    const isNamed = selection !== "all" && !selection.mayBeMissing;
    const scheduled = isNamed ? selected.tasks.find(({ id }) => this.#draft.get(id)?.spec.schedule !== undefined) : undefined;
    if (scheduled !== undefined) throw nothingToRestart(scheduled.name);
    const stopped = [...new Set(selected.tasks.map(({ name }) => name))].filter((name) => !runs.some((one) => one.name === name));
    if (isNamed && stopped[0] !== undefined) throw notRunning(stopped[0], {});
    this.#restart(runs.map(restartOf));
    return { ...selected, tasks: runs.map(({ id, name }) => ({ id, name })), stopped };
  }

  /** @throws EngineError unknown-task, nothing-to-roll-back, no-room */
  rollback(name: string, group: string): string {
    const current = this.#named(name, group);
    const service = replicaOf(current.spec)?.service;
    if (service !== undefined) throw ofService(name, service);
    const isOfName = (one: TaskRecord) => one.group === current.group && one.name === current.name && one.id !== current.id;
    const older = this.#draft.all().findLast((one) => isOfName(one) && one.desired === "RUNNING");
    if (older !== undefined) {
      const why = reason("Replaced", `the task was rolled back to ${older.id}`);
      this.#note(current.id, "rollback");
      this.#draft.apply(current.id, { type: "delete", at: this.#draft.at, reason: why });
      return older.id;
    }
    if (current.previous === null) throw new EngineError("nothing-to-roll-back", `nothing else has run as ${name}`, { id: current.id });
    return this.#replace("rollback", current, current.previous.spec);
  }

  /** A new incarnation of a task that has stopped or is being stopped takes its place; one that runs stays. @throws EngineError unknown-task, no-room */
  start(name: string, group: string): string {
    const current = this.#named(name, group);
    if (isToRun(current)) return current.id;
    return this.#replace("start", current, current.spec, current.previous);
  }

  /** Does what is due of a schedule. @throws EngineError no-room */
  runSchedule(id: string, nowMs: number): void {
    const record = this.#draft.get(id);
    if (record === undefined) return;
    const all = this.#draft.all();
    const { due, remove } = decideSchedule(record, all, nowMs);
    const specs = due?.state === "started" ? withPorts(runSpecs(record, due.atMs), record.group, all) : [];
    const ranges = this.#ranges();
    const { group, from } = record;
    const runs = specs.map((spec): Step => {
      const users = usersFor(spec, ranges);
      const own = taskId(group, spec.name, ++this.revision);
      const run = { of: record.name, atMs: due!.atMs };
      const task = { id: own, group, spec, cgroup: this.#options.cgroupOf(own, spec), at: this.#draft.at, from, run, ...users };
      return { type: "add", record: newRecord(task) };
    });
    this.#carryOut("apply", [...remove.map((one): Step => ({ type: "remove", id: one })), ...runs]);
    if (due !== undefined) this.#draft.decided(id, due);
  }

  /** The services and their rollouts. */
  get services(): Services {
    const newId = (group: string, name: string) => taskId(group, name, ++this.revision);
    return new Services({
      ...{ draft: this.#draft, by: this.#options.by, newId },
      replace: (group, steps) => {
        const ranges = this.#ranges();
        const ofStep = ({ id, spec }: Replace) => this.#newTask(id, group, spec, this.services.imagesFor(group, spec), ranges);
        const all = steps.flatMap((step) => replacement(ofStep(step), step.current, undefined, step.order));
        this.#carryOut("apply", all);
      },
      add: (group, specs, images) => {
        const [all, ranges] = [this.#draft.all(), this.#ranges()];
        const ofSpec = (spec: TaskSpec) => this.#newTask(newId(group, spec.name), group, spec, images, ranges);
        const added = specs.flatMap((spec) => replacement(ofSpec(spec), currentOf(all, group, spec.name)));
        this.#carryOut("scale", added);
      },
    });
  }

  /** @throws EngineError no-room */
  #newTask(id: string, group: string, spec: TaskSpec, images?: RevisionImages, ranges = this.#ranges()): NewTask {
    return { id, group, spec, cgroup: this.#options.cgroupOf(id, spec), at: this.#draft.at, images, ...usersFor(spec, ranges) };
  }

  #replace(request: ChangeRequest, current: TaskRecord, spec: TaskSpec, previous?: TaskRecord["previous"]): string {
    const id = taskId(current.group, current.name, ++this.revision);
    const images = this.services.imagesFor(current.group, spec);
    this.#carryOut(request, replacement(this.#newTask(id, current.group, spec, images), current, previous));
    return id;
  }

  #stop(tasks: readonly Pick<TaskRecord, "id">[]): void {
    for (const { id } of tasks) this.#note(id, "stop");
    const event = { type: "stop", at: this.#draft.at, reason: reason("StoppedByUser", "the task was stopped") } as const;
    this.#draft.applyTogether(tasks.map(({ id }) => [id, event]));
  }

  /** @throws EngineError other-origin */
  #checkOrigin({ names, origin = {} }: Exclude<Selection, "all">, group: string, tasks: readonly TaskRecord[]): void {
    const project = projectsIn(this.facts.projects ?? {}, tasks, this.#options.hasVolumes)(group);
    checkOrigin(origin, { group, tasks, project }, (name) => names.includes(name));
  }

  /** @param done names that count although no task has them. @throws EngineError unknown-task, other-origin */
  #select(selection: Selection, group: string, done: readonly string[]): Selected {
    const all = this.#draft.all();
    if (selection !== "all") this.#checkOrigin(selection, group, all);
    const isOfGroup = (one: TaskRecord) => one.group === group;
    const isNamed = ({ name }: TaskRecord) => selection === "all" || selection.names.includes(name);
    const isMeant = (one: TaskRecord) => (isOfGroup(one) && isNamed(one)) || (selection !== "all" && selection.names.includes(one.id));
    const tasks = withRuns(all.filter(isMeant), all);
    const names = selection === "all" ? done : selection.names;
    const without = [...new Set(names)].filter((name) => !tasks.some((one) => one.name === name || one.id === name));
    const missing = without.filter((name) => !done.includes(name));
    if (selection !== "all" && !selection.mayBeMissing && missing[0] !== undefined) throw unknownTask(missing[0], group, all);
    const others = new Set(all.filter((one) => isOfGroup(one) && !tasks.includes(one) && !one.isDeleteAsked).map(({ name }) => name));
    return {
      tasks: tasks.map(({ id, name }) => ({ id, name })),
      forgotten: without.filter((name) => done.includes(name)),
      ...{ missing, others: [...others] },
    };
  }

  #named(name: string, group: string): TaskRecord {
    const all = this.#draft.all();
    const found = taskNamed(all, name, group);
    if (found === undefined) throw unknownTask(name, group, all);
    return found;
  }

  /** With those that are to be restarted with them: all decide when each has got its event. */
  #restart(asked: readonly Restart[]): void {
    const named = new Set(asked.map(({ id }) => id));
    const others = this.#draft.all().filter((one) => isToRun(one) && !named.has(one.id));
    const followers = [...new Set(asked.map(({ group }) => group))].flatMap((group) => {
      const ofGroup = others.filter((one) => one.group === group);
      const names = new Set(asked.filter((one) => one.group === group).map(({ name }) => name));
      const found = followersOf(
        names,
        ofGroup.map(({ spec }) => spec),
      );
      return ofGroup.filter(({ name }) => found.has(name)).map(restartOf);
    });
    const all = [...asked, ...followers];
    for (const { id } of all) this.#note(id, "restart");
    this.#draft.applyTogether(all.map(({ id, containers }) => [id, { type: "restart", at: this.#draft.at, containers }]));
  }

  #note(id: string, request: ChangeRequest): void {
    this.#draft.note(id, request, this.#options.by);
  }

  #carryOut(request: ChangeRequest, steps: readonly Step[]): void {
    for (const step of steps) if (step.type !== "roll") this.#take(request, step);
    const removed = steps.filter((step) => step.type === "remove").flatMap((step) => [step, ...runsRemovedWith(step, this.#draft)]);
    this.#draft.applyTogether(removed.map((step) => [step.id, this.#removal(step)]));
  }

  #take(request: ChangeRequest, step: Exclude<Step, { type: "roll" }>): void {
    if (step.type === "add") this.#draft.add(step.record);
    this.#note(step.type === "add" ? step.record.id : step.id, request);
    if (step.type === "adopt") this.#draft.adopt(step.id, step.from);
    if (step.type === "respec") this.#draft.apply(step.id, { type: "respec", at: this.#draft.at, spec: step.spec, digest: step.digest });
  }

  #removal({ by, why, volumes }: Extract<Step, { type: "remove" }>): TaskEvent {
    const given = by === undefined ? why : reason("Replaced", `the task was replaced by ${by}`);
    return { type: "delete", at: this.#draft.at, ...(given === undefined ? {} : { reason: given }), ...(volumes ? { volumes } : {}) };
  }
}
