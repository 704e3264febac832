/** Requests of users, applied to the draft of a turn. Each request throws before it changes anything. */
import { reason, type TaskRecord, taskId, UserRanges } from "../../model/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import { EngineError, unknownTask } from "../errors.ts";
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
import { succeededKey } from "./codec.ts";
import type { Draft } from "./draft.ts";
import type { Caller, ChangeRequest } from "./journal.ts";

/** Finds a task by id or by name. Of several with one name, the newest that was not deleted counts, or else the newest. undefined: there is none. */
export function taskNamed(tasks: readonly TaskRecord[], name: string, group: string): TaskRecord | undefined {
  return (
    tasks.find(({ id }) => id === name) ??
    currentOf(tasks, group, name) ??
    tasks.findLast((one) => one.group === group && one.name === name)
  );
}

export interface CommandsOptions extends Pick<Present, "capacity" | "cgroupOf" | "users"> {
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

  /** @throws EngineError no-room */
  apply(specs: readonly TaskSpec[], group: string, options: ApplyOptions): readonly Applied[] {
    const { at } = this.#draft;
    const succeeded = [...this.#draft.succeeded().values()];
    const present = { ...this.#options, tasks: this.#draft.all(), succeeded, revision: this.revision, at };
    const plan = planApply(specs, group, present, options);
    this.revision = plan.revision;
    for (const step of plan.steps) this.#take("apply", step);
    return plan.applied;
  }

  /** @throws EngineError unknown-task */
  delete(name: string, group: string): readonly string[] {
    const found = this.#draft.all().filter((one) => one.id === name || (one.group === group && one.name === name));
    if (found.length === 0 && !this.#draft.succeeded().has(succeededKey({ group, name }))) throw unknownTask(name, group);
    for (const { id } of found) this.#take("delete", { type: "remove", id });
    for (const of of [{ group, name }, ...found]) this.#draft.forget(of);
    return found.map(({ id }) => id);
  }

  /** @throws EngineError unknown-task */
  stop(name: string, group: string): string {
    const { id } = this.#named(name, group);
    this.#note(id, "stop");
    this.#draft.apply(id, { type: "stop", at: this.#draft.at, reason: reason("StoppedByUser", "the task was stopped") });
    return id;
  }

  /** Also restarts the containers that are to be restarted with these. @throws EngineError unknown-task, unknown-container, not-running */
  restart(name: string, group: string, containers: readonly string[]): string {
    const { id, desired, spec, group: own } = this.#named(name, group);
    const all = spec.containers.map((one) => one.name);
    const unknown = containers.find((one) => !all.includes(one));
    if (unknown !== undefined) throw new EngineError("unknown-container", `task ${name} has no container ${unknown}`, { containers: all });
    if (desired === "STOPPED") throw new EngineError("not-running", `task ${name} has stopped or is being stopped: apply it again`, { id });
    this.#restart(id, containers.length === 0 ? all : containers);
    const others = this.#draft.all().filter((one) => one.group === own && one.desired === "RUNNING" && !one.isDeleteAsked);
    const followers = followersOf(
      new Set([spec.name]),
      others.map((one) => one.spec),
    );
    for (const one of others.filter(({ name: other }) => followers.has(other)))
      this.#restart(
        one.id,
        one.spec.containers.map((container) => container.name),
      );
    return id;
  }

  /** @throws EngineError unknown-task, nothing-to-roll-back, no-room */
  rollback(name: string, group: string): string {
    const current = this.#named(name, group);
    const isOfName = (one: TaskRecord) => one.group === current.group && one.name === current.name && one.id !== current.id;
    const older = this.#draft.all().findLast((one) => isOfName(one) && one.desired === "RUNNING");
    if (older !== undefined) {
      const why = reason("Replaced", `the task was rolled back to ${older.id}`);
      this.#note(current.id, "rollback");
      this.#draft.apply(current.id, { type: "delete", at: this.#draft.at, reason: why });
      return older.id;
    }
    if (current.previous === null) throw new EngineError("nothing-to-roll-back", `nothing else has run as ${name}`, { id: current.id });
    const { spec } = current.previous;
    const users = usersFor(spec, new UserRanges(this.#draft.all(), this.#options.users));
    const id = taskId(current.group, current.name, ++this.revision);
    const task = { id, group: current.group, spec, cgroup: this.#options.cgroupOf(id), at: this.#draft.at, ...users };
    for (const step of replacement(task, current)) this.#take("rollback", step);
    return id;
  }

  #named(name: string, group: string): TaskRecord {
    const found = taskNamed(this.#draft.all(), name, group);
    if (found === undefined) throw unknownTask(name, group);
    return found;
  }

  #restart(id: string, containers: readonly string[]): void {
    this.#note(id, "restart");
    this.#draft.apply(id, { type: "restart", at: this.#draft.at, containers });
  }

  #note(id: string, request: ChangeRequest): void {
    this.#draft.note(id, request, this.#options.by);
  }

  #take(request: ChangeRequest, step: Step): void {
    const { at } = this.#draft;
    switch (step.type) {
      case "add":
        this.#draft.add(step.record);
        this.#note(step.record.id, request);
        return;
      case "respec":
        this.#note(step.id, request);
        this.#draft.apply(step.id, { type: "respec", at, spec: step.spec, digest: step.digest });
        return;
      case "remove": {
        this.#note(step.id, request);
        const why = step.by === undefined ? {} : { reason: reason("Replaced", `the task was replaced by ${step.by}`) };
        this.#draft.apply(step.id, { type: "delete", at, ...why });
      }
    }
  }
}
