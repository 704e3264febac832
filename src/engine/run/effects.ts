/** Performs actions. An action can be repeated after a crash, because the name of what it makes was recorded before. Its result is an event. */
import { ProgramError } from "../../executor/index.ts";
import { cut } from "../../shared/text/index.ts";
import { type Action, type ActionError, type ContainerStatus, type ImageRecord, specOf, type TaskRecord } from "../model/index.ts";
import { limitsOf } from "../plan/index.ts";
import type { Checking } from "./checking.ts";
import type { Launching } from "./containers/launching.ts";
import { type ContainerRuntime, exitOf } from "./containers/runtime.ts";
import type { EngineLog } from "./log.ts";
import type { Happening } from "./mailbox.ts";
import { PullFailure, type Pulling } from "./pulling.ts";
import { type Made, releaseIncarnation, type TaskResource } from "./resources/resource.ts";

export interface EffectsOptions {
  readonly resources: readonly TaskResource[];
  readonly runtime: ContainerRuntime;
  readonly launching: Launching;
  readonly pulling: Pulling;
  readonly checking: Checking;
  readonly log: EngineLog;
}

/** Every action but `forget`, which also removes the record (forgetting.ts). */
type Effect = Exclude<Action, { readonly type: "forget" }>;
type ContainerAction = Extract<Action, { readonly runtimeId: string }>;

export class Effects {
  readonly #options: EffectsOptions;

  constructor(options: EffectsOptions) {
    this.#options = options;
  }

  /** For what the action has to wait, without keeping others from theirs; undefined: for nothing. */
  waitsFor(action: Effect, record: TaskRecord): Promise<unknown> | undefined {
    const { resources } = this.#options;
    const isEnd = action.type === "stop" || action.type === "preStop";
    if (action.type !== "start" && !isEnd) return undefined;
    const waits = resources.flatMap((resource) => (isEnd ? resource.leaves?.(record) : resource.waitsFor?.(record, action)) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  /** The result of an action that cannot begin. */
  refused(action: Effect, error: unknown): Happening {
    return failureOf(action, errorOf(error));
  }

  /** Performs the action and returns its result as an event. Never rejects. */
  async perform(action: Effect, record: TaskRecord): Promise<Happening> {
    try {
      return await this.#perform(action, record);
    } catch (error) {
      return failureOf(action, errorOf(error));
    }
  }

  async #perform(action: Effect, record: TaskRecord): Promise<Happening> {
    const { resources, runtime, launching, pulling, checking } = this.#options;
    switch (action.type) {
      case "pull":
        await this.#answered(record, action);
        launching.check(record, action.container);
        return { ...done(action, "PULLED"), ...imageOf(await pulling.pull(record, action)) };
      case "create":
        // The executor creates and starts a container in one step, so that creating only prepares what it gets.
        await pulling.cancellable(record, action, async (signal) => {
          for (const resource of resources) await resource.prepare?.(record, action, signal);
        });
        return done(action, "CREATED");
      case "start": {
        // All mounts have answered before the pull. Here the wait is short, because other starts wait for the place of this one.
        await pulling.cancellable(record, action, (signal) => launching.answered(record, action.container, { signal }));
        const { command, hasSecrets, close } = launching.command(record, action);
        const { startedMs } = await runtime.launch(action.runtimeId, command, hasSecrets).finally(close);
        for (const resource of resources) resource.started?.(record, action, startedMs);
        return done(action, "RUNNING");
      }
      case "stop": {
        const end = await runtime.stop(action.runtimeId, action.signal, action.timeoutMs);
        return { ...done(action, "STOPPED"), ...(end === undefined ? {} : { exit: exitOf(end) }) };
      }
      case "remove":
        await runtime.remove(action.runtimeId);
        await releaseIncarnation(resources, record.id, action.runtimeId);
        return { type: "removed", container: action.container, generation: action.generation };
      case "update":
        await this.#update(record, action);
        return { type: "updated", container: action.container, generation: action.generation };
      case "createResource":
        return { type: "resource", name: action.name, target: "CREATED", ...(await this.#make(record, action.name)) };
      case "removeResource":
        await this.#ownerOf(action.name).unmake?.(record, action.name);
        return { type: "resource", name: action.name, target: "REMOVED" };
      case "checkHealth": {
        const { check, kind, runtimeId } = action;
        const { isHealthy, output } = await checking[kind === "postStart" ? "hook" : "check"](record, runtimeId, check);
        return { ...checked(action), isHealthy, output };
      }
      case "preStop": {
        const { isHealthy, output } = await checking.hook(record, action.runtimeId, action.hook);
        return { ...preStopped(action), ...(isHealthy ? {} : { error: `it has failed, or not ended in time: ${output}` }) };
      }
    }
  }

  /** After a power cut, servers of files may start later than this host: tasks wait for them, until they are not wanted any more. */
  async #answered(record: TaskRecord, action: ContainerAction): Promise<void> {
    const { launching, pulling } = this.#options;
    const { container } = action;
    await pulling.cancellable(record, action, (signal) =>
      launching.answered(record, container, { signal, onLate: this.#teller(record.id, container) }).catch((error: unknown) => {
        // The task itself may go on.
        throw signal.aborted ? new PullFailure(error as Error, "container") : error;
      }),
    );
  }

  #teller(task: string, waiting: string): (message: string) => void {
    return (message) => this.#options.log("error", "mount-waits", { task, waiting, message });
  }

  /** A limit of the task can only grow before those of its containers, and only become less after them. */
  async #update(record: TaskRecord, { runtimeId, container }: Extract<Action, { type: "update" }>): Promise<void> {
    const { resources, runtime } = this.#options;
    const updateTask = async () => {
      for (const resource of resources) await resource.update?.(record);
    };
    const isDone = await updateTask().then(
      () => true,
      () => false,
    );
    await runtime.update(runtimeId, limitsOf(record.spec, specOf(record, container)!));
    if (!isDone) await updateTask();
  }

  async #make(record: TaskRecord, member: string): Promise<Made> {
    const { pulling } = this.#options;
    const owner = this.#ownerOf(member);
    const onLate = this.#teller(record.id, member);
    return (await pulling.cancellableOf(record.id, member, async (signal) => owner.make?.(record, member, { signal, onLate }))) ?? {};
  }

  /** @throws Error: no resource of this program has this name, so that another program must have written the record */
  #ownerOf(member: string): TaskResource {
    const owner = this.#options.resources.find((resource) => resource.owns?.(member));
    if (owner === undefined) throw new Error(`no resource of a task is called ${member}`);
    return owner;
  }
}

function imageOf(image: ImageRecord | undefined) {
  return image === undefined ? {} : { image };
}

function checked({ kind, container, generation }: Extract<Action, { type: "checkHealth" }>) {
  return { type: "health", check: kind, container, generation } as const;
}

function preStopped({ container, generation }: ContainerAction) {
  return { type: "preStopped", container, generation } as const;
}

function done({ container, generation }: ContainerAction, target: ContainerStatus) {
  return { type: "result", container, generation, target } as const;
}

const TARGET = { pull: "PULLED", create: "CREATED", start: "RUNNING", stop: "STOPPED" } as const;

function failureOf(action: Effect, error: ActionError): Happening {
  switch (action.type) {
    case "pull":
    case "create":
    case "start":
    case "stop":
      return { ...done(action, TARGET[action.type]), error };
    case "remove":
      return { type: "removed", container: action.container, generation: action.generation, error };
    case "update":
      return { type: "updated", container: action.container, generation: action.generation, error };
    case "createResource":
      return { type: "resource", name: action.name, target: "CREATED", error };
    case "removeResource":
      return { type: "resource", name: action.name, target: "REMOVED", error };
    case "preStop":
      return { ...preStopped(action), error: error.message };
    case "checkHealth":
      return { ...checked(action), isHealthy: false, output: error.message };
  }
}

/** The executor rolls back a launch that fails. If the rollback failed too, the container may exist. */
function errorOf(error: unknown): ActionError {
  const { code, cause } = error as { code?: string; cause?: { message?: string } };
  const whole = error instanceof Error ? error.message : String(error);
  // It goes into the task's record, its journal and each answer about the task.
  const message = cut(whole);
  if (error instanceof PullFailure)
    return { message, isOutcomeUnknown: false, ...(error.stops === undefined ? {} : { stops: error.stops }) };
  if (error instanceof ProgramError) return { message, isOutcomeUnknown: false, exitStatus: error.shellStatus };
  const isTold = cause?.message === undefined || whole.includes(cause.message);
  return { message: isTold ? message : cut(`${whole}: ${cause.message}`), isOutcomeUnknown: code === "stuck" };
}
