/** Performs actions. An action can be repeated after a crash, because the name of what it makes was recorded before. Its result is an event. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isSlice, removeEmptyLevels } from "../cgroup/index.ts";
import type { Images } from "../images/index.ts";
import { pruneLogs } from "../logs/index.ts";
import {
  type Action,
  type ActionError,
  type ContainerStatus,
  type ImageRecord,
  NETWORK,
  type NetworkRecord,
  specOf,
  type TaskRecord,
  USERS,
  USERS_OF_A_TASK,
} from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { removeOwnTree, unmountBelow } from "../own/index.ts";
import { isInMachine, limitsOf, type Runtimes } from "../plan/index.ts";
import type { SecretFiles } from "../secrets/index.ts";
import { isJoinedEarly } from "../spec/index.ts";
import type { TaskUsers } from "../users/index.ts";
import { Checking } from "./checking.ts";

import type { KeptVolumes } from "./containers/kept-volumes.ts";
import type { Launching } from "./containers/launching.ts";
import type { MetadataFiles } from "./containers/metadata.ts";
import { createResource, removeResource } from "./containers/resources.ts";
import { type ContainerRuntime, exitOf } from "./containers/runtime.ts";
import type { SpecCopies } from "./containers/spec-copies.ts";
import type { EndMessages } from "./logs/end-messages.ts";
import type { LogRouters } from "./logs/log-routers.ts";
import type { Interfaces } from "./network/interfaces.ts";
import { writeResolv } from "./network/name-servers.ts";
import type { SharedProxies } from "./network/shared-proxies.ts";
import type { Paths } from "./paths.ts";
import { PullFailure, type Pulling } from "./pulling.ts";
import type { Happening } from "./turn.ts";

export interface EffectsOptions {
  readonly paths: Paths;
  readonly runtime: ContainerRuntime;
  readonly launching: Launching;
  readonly specCopies: SpecCopies;
  readonly networks: TaskNetworks;
  readonly users: TaskUsers;
  readonly metadata: MetadataFiles;
  readonly endMessages: EndMessages;
  readonly interfaces: Interfaces;
  readonly logRouters: LogRouters;
  readonly sharedProxies: SharedProxies;
  readonly keptVolumes: KeptVolumes;
  readonly pulling: Pulling;
  readonly images: Images;
  readonly secrets: SecretFiles;
  /** Programs of the runtimes that tasks may name. */
  readonly runtimes: Runtimes;
  /** Parent cgroup for containers of tasks that have no cgroup of their own. */
  readonly cgroupParent: string;
}

/** Every action but `forget`, which also removes the record (forgetting.ts). */
type Effect = Exclude<Action, { readonly type: "forget" }>;
type ContainerAction = Extract<Action, { readonly runtimeId: string }>;

export class Effects {
  readonly #options: EffectsOptions;
  readonly #checking: Checking;

  constructor(options: EffectsOptions) {
    this.#options = options;
    this.#checking = new Checking(options);
  }

  /** For what the action has to wait, without keeping others from theirs; undefined: for nothing. What holds the namespaces of a task joins that of a network that is being made. */
  waitsFor(action: Effect, { id, spec, resources }: TaskRecord): Promise<void> | undefined {
    const isOfHolder = action.type === "start" && specOf({ spec }, action.container) === undefined;
    const isMaking = resources.some(({ name, applied }) => name === NETWORK && applied === "CREATED");
    return isOfHolder && isMaking ? this.#options.networks.joinable(id) : undefined;
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
    const { runtime, paths, metadata, endMessages } = this.#options;
    switch (action.type) {
      case "pull":
        return { ...done(action, "PULLED"), ...imageOf(await this.#options.pulling.pull(record, action)) };
      case "create":
        // The executor creates and starts a container in one step, so that creating only prepares directories.
        mkdirSync(dirname(paths.log(record.id, action.runtimeId)), { recursive: true, mode: 0o700 });
        pruneLogs(paths.log(record.id, action.runtimeId));
        this.#options.specCopies.write(record);
        await this.#options.pulling.makeRoot(record, action);
        endMessages.begin(record, action);
        writeResolv(record, paths);
        this.#options.logRouters.begin(record, action);
        this.#options.sharedProxies.begin(record);
        return done(action, "CREATED");
      case "start": {
        // The addresses of the network are known now.
        metadata.begin(record, action);
        const hasSecrets = specOf(record, action.container)?.secrets?.some(({ env }) => env !== undefined);
        const { command, close } = this.#options.launching.command(record, action);
        const { startedMs } = await runtime.launch(action.runtimeId, command, hasSecrets).finally(close);
        metadata.ready(record, action, startedMs);
        return done(action, "RUNNING");
      }
      case "stop": {
        const end = await runtime.stop(action.runtimeId, action.signal, action.timeoutMs);
        return { ...done(action, "STOPPED"), ...(end === undefined ? {} : { exit: exitOf(end) }) };
      }
      case "remove":
        await runtime.remove(action.runtimeId);
        await this.#options.users.hide(record.id, action.runtimeId);
        await this.#options.images.releaseRoot(action.runtimeId);
        await this.#options.secrets.release(action.runtimeId);
        return { type: "removed", container: action.container, generation: action.generation };
      case "update":
        this.#options.specCopies.write(record);
        await runtime.update(action.runtimeId, limitsOf(record.spec, specOf(record, action.container)!));
        return { type: "updated", container: action.container, generation: action.generation };
      case "createResource":
        return { type: "resource", name: action.name, target: "CREATED", ...(await this.#createResource(action.name, record)) };
      case "removeResource":
        if (action.name === NETWORK) {
          await this.#options.networks.release(record.id);
          await this.#options.interfaces.release(record.id);
        } else if (action.name === USERS) this.#options.users.remove(record.id);
        else await removeResource(record, action.name, { paths, binary: runtime.binary });
        return { type: "resource", name: action.name, target: "REMOVED" };
      case "checkHealth": {
        const { check, kind, runtimeId } = action;
        const { isHealthy, output } = await this.#checking[kind === "postStart" ? "hook" : "check"](record, runtimeId, check);
        return { ...checked(action), isHealthy, output };
      }
      case "preStop":
        return { ...preStopped(action), ...(await this.#preStop(action, record)) };
      case "provision":
        throw new Error("the action provision does not occur");
    }
  }

  async #createResource(name: string, record: TaskRecord): Promise<{ readonly network?: NetworkRecord }> {
    const { paths, runtime, networks, runtimes } = this.#options;
    if (name === NETWORK) return { network: await networks.during(record.id, () => this.#createNetwork(record)) };
    if (name === USERS) await this.#makeUsers(record);
    else await createResource(record, name, { paths, binary: runtime.binary, runtimes });
    return {};
  }

  async #createNetwork(record: TaskRecord): Promise<NetworkRecord> {
    await this.#options.interfaces.take(record);
    const users = await this.#makeUsers(record);
    // A virtual machine has the interfaces that are there when it boots (test/engine/vm-compose.test.ts).
    const isEarly = isJoinedEarly(record.spec) && !isInMachine(record.spec, this.#options.runtimes);
    return this.#options.networks.provision(record.id, record.group, record.spec, { users: users?.namespace, isEarly });
  }

  /** undefined: the task has the users of the host. */
  async #makeUsers({ id, users }: TaskRecord) {
    return users && this.#options.users.make(id, { ...users, count: USERS_OF_A_TASK });
  }

  async #preStop({ runtimeId, hook }: Extract<Action, { type: "preStop" }>, record: TaskRecord): Promise<{ readonly error?: string }> {
    const { isHealthy, output } = await this.#checking.hook(record, runtimeId, hook);
    return isHealthy ? {} : { error: `it has failed, or not ended in time: ${output}` };
  }

  /** Removes what is left of a task after its containers and resources: logs, metadata, and empty levels of the parent cgroup. */
  forget({ id, cgroup }: Pick<TaskRecord, "id" | "cgroup">): void {
    const { paths, cgroupParent } = this.#options;
    if (cgroup === null && !isSlice(cgroupParent)) removeEmptyLevels(cgroupParent);
    this.#options.users.remove(id);
    const { logs, volumes, metadataOf, endMessages, logRouters, etc } = paths;
    for (const path of [logs, volumes, metadataOf, endMessages, logRouters, etc].map((of) => of.call(paths, id))) {
      // A directory of the host may be bind-mounted below. It is unmounted first, so that its content is not removed.
      unmountBelow(path);
      removeOwnTree(path);
    }
    this.#options.specCopies.remove(id);
  }

  /** Removes what the task had together with others and nobody has any more. */
  async releaseShared(record: TaskRecord): Promise<void> {
    await this.#options.sharedProxies.release(record);
    await this.#options.keptVolumes.release(record);
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

const TARGET = { pull: "PULLED", create: "CREATED", start: "RUNNING", provision: "RESOURCES_PROVISIONED", stop: "STOPPED" } as const;

function failureOf(action: Effect, error: ActionError): Happening {
  switch (action.type) {
    case "pull":
    case "create":
    case "start":
    case "provision":
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
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PullFailure)
    return { message, isOutcomeUnknown: false, ...(error.stops === undefined ? {} : { stops: error.stops }) };
  const isTold = cause?.message === undefined || message.includes(cause.message);
  return { message: isTold ? message : `${message}: ${cause.message}`, isOutcomeUnknown: code === "stuck" };
}
