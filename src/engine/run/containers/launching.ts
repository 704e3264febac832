/** Collects and checks the inputs of a container before anything is created, then builds the command with which the executor launches it. */
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { join, resolve } from "node:path";
import type { LaunchCommand, OciObject } from "../../../executor/index.ts";
import { type Answering, type Patience, untilAnswered, untilAnsweredPatiently } from "../../../node/index.ts";
import { parseExactJson } from "../../../shared/text/index.ts";
import { PAUSE_NAME, runtimeId, specOf, type TaskRecord, taskIdOf } from "../../model/index.ts";
import { PAUSE_PROGRAM, type PauseRoot } from "../../pause/index.ts";
import { bundleProblems, type Incarnation, isInMachine, launchOf, parseEnvFile, pauseLaunch, type Runtimes } from "../../plan/index.ts";
import { type ContainerSpec, isMachineRuntime, type TaskSpec, unknownRuntime } from "../../spec/index.ts";
import type { Paths } from "../paths.ts";
import type { Contribution, TaskResource } from "../resources/resource.ts";

export interface LaunchingOptions {
  readonly paths: Paths;
  readonly resources: readonly TaskResource[];
  readonly pause: PauseRoot;
  /** Parent cgroup for containers of tasks that have no cgroup of their own. */
  readonly cgroupParent: string;
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
  /** Whether its environment contains secrets. */
  readonly hasSecrets: boolean;
  /** To be called when the container is launched, or will not be: the sources of its mounts are open until then. */
  close(): void;
}

export class Launching {
  readonly #options: LaunchingOptions;

  constructor(options: LaunchingOptions) {
    this.#options = options;
  }

  /**
   * Waits until the mounts of all paths that the container names answer. To be called immediately before the other two functions, which open these paths and wait for as long
   * as the server of a mount does. A server that stops answering between the two is not noticed.
   * @param wait with `onLate` also for a server that starts later
   * @throws Error: one does not answer in time; the message has the path; the reason of `signal`
   */
  async answered(record: TaskRecord, container: string, wait: Answering | Patience = {}): Promise<void> {
    const { rootfs, bundle, seccomp, envFiles = [] } = specOf(record, container) ?? {};
    const own = [rootfs, bundle, seccomp === "unconfined" ? undefined : seccomp, ...envFiles].filter((path) => path !== undefined);
    const until = (paths: string[]) => ("onLate" in wait ? untilAnsweredPatiently(paths, wait) : untilAnswered(paths, wait));
    await until([...own, ...this.#options.resources.flatMap((resource) => resource.paths?.(record, container) ?? [])]);
    if (bundle !== undefined) await until([rootOf(bundle)]);
  }

  /** Checks that all files the container names exist. @throws Error: something is missing; the message has its path */
  check(record: TaskRecord, container: string): void {
    const spec = specOf(record, container);
    if (spec === undefined) {
      this.#options.pause.path();
      return;
    }
    checkRuntime(record.spec, this.#options.runtimes);
    readSpecFiles(record.spec, spec);
    if (spec.rootfs !== undefined && !statSync(spec.rootfs, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`${spec.rootfs} is not a directory`);
    for (const resource of this.#options.resources) resource.check?.(record, container);
  }

  /** Builds the launch command. @throws Error, as check */
  command(record: TaskRecord, incarnation: Incarnation): Prepared {
    const contributions: Contribution[] = [];
    const close = () => {
      for (const contribution of contributions.splice(0)) contribution.close?.();
    };
    try {
      for (const resource of this.#options.resources) contributions.push(resource.contribute?.(record, incarnation) ?? {});
      const all = mergedContribution(contributions);
      return { command: this.#command(record, incarnation, all), hasSecrets: Object.keys(all.secretEnv ?? {}).length > 0, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  #command(record: TaskRecord, { container, generation, runtimeId }: Incarnation, all: Contribution): LaunchCommand {
    const { paths, cgroupParent, runtimes, pause } = this.#options;
    const inMachine = isInMachine(record.spec, runtimes);
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
    const spec = specOf(record, container);
    if (spec === undefined) {
      return pauseLaunch(record.spec, {
        ...common,
        ...(all.network === undefined ? {} : { network: all.network.path }),
        ...(all.users === undefined ? {} : { userNamespace: all.users.namespace }),
        ...(inMachine ? { machine: runtimeId } : {}),
        rootfs: all.users?.pause ?? pause.path(),
        program: PAUSE_PROGRAM,
        hasIpv6: existsSync("/proc/sys/net/ipv6"),
      });
    }
    checkRuntime(record.spec, runtimes);
    const holder = record.containers.find(({ type }) => type === "namespacePause")?.runtimeId;
    return launchOf(record.spec, spec, {
      ...common,
      ...readSpecFiles(record.spec, spec),
      ...all,
      ...(holder === undefined ? {} : { pause: holder }),
      ...(inMachine ? { relay: join(pause.path(), PAUSE_PROGRAM) } : {}),
      architecture: process.arch,
      kernel: release(),
      log: paths.log(record.id, runtimeId),
    });
  }
}

/** All in one: mounts one after the other, variables together. Anything else comes from one resource. */
function mergedContribution(contributions: readonly Contribution[]): Contribution {
  return {
    ...(Object.assign({}, ...contributions) as Contribution),
    mounts: contributions.flatMap(({ mounts = [] }) => mounts),
    engineEnv: Object.assign({}, ...contributions.map(({ engineEnv }) => engineEnv)) as Record<string, string>,
  };
}

/** @throws Error: the task names a runtime that is no longer configured */
function checkRuntime({ runtime }: TaskSpec, runtimes: Runtimes): void {
  const unknown = runtime === undefined ? undefined : unknownRuntime(runtime, Object.keys(runtimes));
  if (unknown !== undefined) throw new Error(unknown);
}

// Files that a task names and that the daemon reads: config.json of a bundle, a seccomp filter, env
// files.

/** In bytes. A larger file is named by mistake. */
const LARGEST = 4 << 20;

/** The contents of the files that a container names. */
interface SpecFiles {
  /** config.json of its bundle. */
  readonly config?: OciObject;
  /** linux.seccomp. */
  readonly seccomp?: OciObject;
  /** The merged variables of all its env files. */
  readonly env?: Readonly<Record<string, string>>;
}

/** @throws Error: a file cannot be read or is wrong; the message has its path */
function readSpecFiles(task: TaskSpec, container: ContainerSpec): SpecFiles {
  const { bundle, seccomp } = container;
  if (bundle !== undefined) {
    const path = join(bundle, "config.json");
    const config = readObject(path);
    const problems = bundleProblems(task, container, config);
    if (problems.length > 0) throw new Error(`${path}: ${problems.join("; ")}`);
    return { config };
  }
  const env = environmentIn(container);
  if (seccomp === undefined || seccomp === "unconfined") return env;
  const filter = readObject(seccomp);
  if (typeof filter["defaultAction"] !== "string") throw new Error(`${seccomp}: it has no defaultAction, which a seccomp object has`);
  return { seccomp: filter, ...env };
}

/** The root file system that a bundle names. What is wrong with its configuration is told by whoever needs it. */
function rootOf(bundle: string): string {
  try {
    const { root } = readObject(join(bundle, "config.json")) as { readonly root?: { readonly path?: unknown } };
    return resolve(bundle, typeof root?.path === "string" ? root.path : "rootfs");
  } catch {
    return bundle;
  }
}

function environmentIn({ envFiles }: ContainerSpec): Pick<SpecFiles, "env"> {
  if (envFiles === undefined) return {};
  const found = envFiles.map((path) => {
    try {
      return parseEnvFile(readText(path));
    } catch (error) {
      throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
    }
  });
  return { env: Object.assign({}, ...found) as Record<string, string> };
}

function readObject(path: string): OciObject {
  let value: unknown;
  try {
    value = parseExactJson(readText(path));
  } catch (error) {
    throw new Error(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${path}: it is no JSON object`);
  return value as OciObject;
}

function readText(path: string): string {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new Error("it is no regular file");
    if (found.size > LARGEST) throw new Error(`it is larger than ${LARGEST} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

// Finds the program that makes a container whose task names a runtime.

/**
 * Path of the program; undefined: the usual one. The container that holds shared namespaces is made by the usual one, because other runtimes may not be able to
 * share them. In a virtual machine it has to be there, too: it boots the machine.
 */
export function makerOf(records: ReadonlyMap<string, TaskRecord>, runtimes: Runtimes, id: string): string | undefined {
  const record = records.get(taskIdOf(id));
  const name = record?.spec.runtime;
  if (name === undefined || !Object.hasOwn(runtimes, name)) return undefined;
  const program = runtimes[name]!;
  return isPause(record!, id) && !isMachineRuntime(program) ? undefined : program;
}

function isPause({ id: task }: TaskRecord, id: string): boolean {
  const generation = Number(id.slice(id.lastIndexOf(".") + 1));
  return runtimeId(task, PAUSE_NAME, generation) === id;
}
