/** Collects and checks the inputs of a container before anything is created, then builds the command with which the executor launches it. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LaunchCommand } from "../../../executor/index.ts";
import type { Images } from "../../images/index.ts";
import { type ContainerRecord, specOf, type TaskRecord, USERS_OF_A_TASK } from "../../model/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import { locatePause, makePauseRoot, PAUSE_PROGRAM } from "../../pause/index.ts";
import {
  type ImagePlacement,
  type Incarnation,
  imageVolumes,
  isInMachine,
  launchOf,
  pauseLaunch,
  proxyEnv,
  type Runtimes,
  withRouterSecrets,
} from "../../plan/index.ts";
import { readVariable, type SecretFile, type SecretFiles } from "../../secrets/index.ts";
import { type ContainerSpec, hasOwnNetwork, type TaskSpec, unknownRuntime } from "../../spec/index.ts";
import type { TaskUsers, UsersPlacement } from "../../users/index.ts";
import { fillVolume } from "../../volumes/index.ts";
import type { EndMessages } from "../logs/end-messages.ts";
import type { LogRouters } from "../logs/log-routers.ts";
import type { SharedProxies } from "../network/shared-proxies.ts";
import type { Paths } from "../paths.ts";
import { readSpecFiles } from "./files.ts";
import type { MetadataFiles } from "./metadata.ts";
import { checkHostSources, type OpenSources, openSources, type SourceRules } from "./open-sources.ts";

export interface LaunchingOptions {
  readonly paths: Paths;
  readonly networks: TaskNetworks;
  readonly metadata: MetadataFiles;
  readonly endMessages: EndMessages;
  readonly images: Images;
  readonly secrets: SecretFiles;
  readonly logRouters: LogRouters;
  readonly sharedProxies: SharedProxies;
  readonly users: TaskUsers;
  /** Parent cgroup for containers of tasks that have no cgroup of their own. */
  readonly cgroupParent: string;
  /** Path of the runt executable. */
  readonly binary: string;
  /** Programs of the runtimes that tasks may name. */
  readonly runtimes: Runtimes;
}

/** Annotations that say to which task a container belongs, even if the store has lost the task. */
export const ANNOTATION = {
  task: "org.runt.task",
  group: "org.runt.group",
  container: "org.runt.container",
  generation: "org.runt.generation",
  digest: "org.runt.spec-digest",
};

export interface Prepared {
  readonly command: LaunchCommand;
  /** To be called when the container is launched, or will not be: the sources of its mounts are open until then. */
  close(): void;
}

const NO_SOURCES: OpenSources = { identities: [], close: () => {} };

export class Launching {
  readonly #options: LaunchingOptions;

  constructor(options: LaunchingOptions) {
    this.#options = options;
  }

  /** Checks that all files the container names exist. @throws Error: something is missing; the message has its path */
  check(record: TaskRecord, container: string): void {
    const { spec: task } = record;
    const spec = task.containers.find(({ name }) => name === container);
    if (spec === undefined) {
      this.#pauseRoot();
      return;
    }
    checkRuntime(task, this.#options.runtimes);
    readSpecFiles(task, spec);
    if (spec.rootfs !== undefined && !statSync(spec.rootfs, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${spec.rootfs} is no directory`);
    checkHostSources(task, spec, this.#sourceRules(record));
  }

  /** Builds the launch command. @throws Error, as check */
  command(record: TaskRecord, incarnation: Incarnation): Prepared {
    const spec = specOf(record, incarnation.container);
    const sources = spec === undefined ? NO_SOURCES : openSources(record.spec, spec, this.#sourceRules(record));
    try {
      return { command: this.#command(record, incarnation, sources), close: sources.close };
    } catch (error) {
      sources.close();
      throw error;
    }
  }

  #command(record: TaskRecord, incarnation: Incarnation, sources: OpenSources): LaunchCommand {
    const { container, generation, runtimeId } = incarnation;
    const { paths, cgroupParent, networks } = this.#options;
    const network = hasOwnNetwork(record.spec) ? networks.placement(record.id) : undefined;
    const users = this.#usersOf(record);
    const common = {
      cgroupParent: record.cgroup ?? cgroupParent,
      annotations: {
        [ANNOTATION.task]: record.id,
        [ANNOTATION.group]: record.group,
        [ANNOTATION.container]: container,
        [ANNOTATION.generation]: String(generation),
        [ANNOTATION.digest]: record.digest,
      },
    };
    const given = specOf(record, container);
    if (given === undefined) {
      const hasIpv6 = existsSync("/proc/sys/net/ipv6");
      const joined = {
        ...(network === undefined ? {} : { network: network.path }),
        ...(users === undefined ? {} : { userNamespace: users.namespace }),
      };
      const machine = isInMachine(record.spec, this.#options.runtimes) ? { machine: runtimeId } : {};
      return pauseLaunch(record.spec, {
        ...common,
        ...joined,
        ...machine,
        rootfs: users?.pause ?? this.#pauseRoot(),
        program: PAUSE_PROGRAM,
        hasIpv6,
      });
    }
    const spec = withRouterSecrets(record.spec, given);
    const image = this.#imageOf(record, spec);
    const pause = record.containers.find(({ type }) => type === "namespacePause")?.runtimeId;
    checkRuntime(record.spec, this.#options.runtimes);
    const { volume, isInMachine: inMachine } = this.#sourceRules(record);
    const metadata = this.#options.metadata.directory(record, incarnation);
    const endMessage = this.#options.endMessages.file(record, incarnation);
    const logRouter = this.#options.logRouters.placement(record, incarnation);
    const proxy = this.#options.sharedProxies.placement(record);
    return launchOf(record.spec, spec, {
      ...common,
      ...readSpecFiles(record.spec, spec),
      ...(pause === undefined ? {} : { pause }),
      ...(inMachine ? { relay: join(this.#pauseRoot(), PAUSE_PROGRAM) } : {}),
      ...(network === undefined ? {} : { network }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(endMessage === undefined ? {} : { endMessage }),
      ...(logRouter === undefined ? {} : { logRouter }),
      ...(proxy === undefined ? {} : { proxy }),
      ...(users === undefined ? {} : { users }),
      ...(record.spec.dns === undefined ? {} : { resolv: paths.resolv(record.id) }),
      engineEnv: { ...this.#options.logRouters.env(record, container), ...proxyEnv(proxy) },
      ...(image === undefined ? {} : { image }),
      architecture: process.arch,
      log: paths.log(record.id, runtimeId),
      secrets: this.#options.secrets.paths(runtimeId, spec.secrets?.length ?? 0),
      secretEnv: secretEnvironment(spec, this.#options.secrets, runtimeId),
      volume,
      sources: sources.identities,
    });
  }

  #sourceRules({ id, group, spec }: TaskRecord): SourceRules {
    const { paths, runtimes } = this.#options;
    const volume = (name: string) => {
      const kept = spec.volumes.find((one) => one.name === name)?.kept;
      return kept === undefined ? paths.volume(id, name) : paths.kept(group, kept);
    };
    return { volume, isInMachine: isInMachine(spec, runtimes) };
  }

  /**
   * Prepares what belongs to one incarnation: its files with secrets, and its root file
   * system if it has an image. @throws SecretError, ImageError; the reason of `signal`
   */
  async makeRoot(record: TaskRecord, { container, runtimeId }: Incarnation, signal: AbortSignal): Promise<void> {
    const { images, secrets } = this.#options;
    const image = containerIn(record, container)?.image;
    await secrets.make(runtimeId, secretFilesOf(record.spec, container), signal);
    if (!image) return;
    const volumes = imageVolumes(specOf(record, container)!, images.config(image));
    const users = this.#usersOf(record);
    const { rootfs } = await images.makeRoot(runtimeId, image, volumes, signal, users);
    if (users !== undefined) await this.#options.users.show(record.id, runtimeId, rootfs);
    await this.#fillVolumes(record, container, runtimeId, users?.first ?? 0, signal);
  }

  /** New kept volumes get what the image has at their places, and scratch directories that ask for it. @throws Error: the copy has failed; the reason of `signal` */
  async #fillVolumes(
    { id, group, spec }: TaskRecord,
    container: string,
    runtimeId: string,
    first: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { paths, images } = this.#options;
    for (const { volume, target, noCopy } of spec.containers.find(({ name }) => name === container)?.mounts ?? []) {
      const known = spec.volumes.find(({ name }) => name === volume);
      if (known === undefined || !isFilled(known, noCopy)) continue;
      const from = images.directoryIn(runtimeId, target);
      if (from === undefined) continue;
      const { name, kept } = known;
      const places =
        kept === undefined
          ? { volume: paths.volume(id, name), beside: paths.fillingOf(id, name) }
          : { volume: paths.kept(group, kept), beside: paths.filling(group, kept) };
      await fillVolume({ ...places, from, first, signal });
    }
  }

  /** The placement of the image for a container whose root file system was already made. */
  #imageOf(record: TaskRecord, spec: ContainerSpec): ImagePlacement | undefined {
    const { images } = this.#options;
    const { image, runtimeId } = containerIn(record, spec.name)!;
    if (image === null) return undefined;
    const config = images.config(image);
    const root = images.rootOf(runtimeId, imageVolumes(spec, config));
    return { config, ...root, ...(record.users === undefined ? {} : { rootfs: this.#options.users.root(record.id, runtimeId) }) };
  }

  /** undefined: the task has the users of the host. */
  #usersOf({ id, users }: TaskRecord): UsersPlacement | undefined {
    return users && this.#options.users.placement(id, { ...users, count: USERS_OF_A_TASK });
  }

  #pauseRoot(): string {
    return makePauseRoot(this.#options.paths.pause, locatePause(this.#options.binary));
  }
}

/** Whether the volume gets what the image has, by what its mount says. */
function isFilled({ kept, host, files, medium }: TaskSpec["volumes"][number], noCopy: boolean | undefined): boolean {
  if (kept !== undefined) return noCopy !== true;
  return noCopy === false && host === undefined && files === undefined && medium === undefined;
}

function secretFilesOf(task: TaskSpec, container: string): SecretFile[] {
  const { containers, secrets: known = [] } = task;
  const spec = containers.find(({ name }) => name === container);
  return ((spec && withRouterSecrets(task, spec).secrets) ?? []).map(({ secret, mode, uid }) => {
    const { file, exec } = known.find(({ name }) => name === secret)!;
    return { name: secret, mode, uid, source: file === undefined ? { exec: exec! } : { file } };
  });
}

/** Reads the secrets that are set as environment variables. @throws SecretError: the content cannot be a variable */
function secretEnvironment({ secrets = [] }: ContainerSpec, files: SecretFiles, runtimeId: string): Record<string, string> {
  const paths = files.paths(runtimeId, secrets.length);
  return Object.fromEntries(secrets.flatMap(({ secret, env }, at) => (env === undefined ? [] : [[env, readVariable(paths[at]!, secret)]])));
}

function containerIn(record: TaskRecord, container: string): ContainerRecord | undefined {
  return record.containers.find(({ name }) => name === container);
}

/** @throws Error: the task names a runtime that is no longer configured */
function checkRuntime({ runtime }: TaskSpec, runtimes: Runtimes): void {
  const unknown = runtime === undefined ? undefined : unknownRuntime(runtime, Object.keys(runtimes));
  if (unknown !== undefined) throw new Error(unknown);
}
