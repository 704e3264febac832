/** Collects and checks the inputs of a container before anything is created, then builds the command with which the executor launches it. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LaunchCommand } from "../../../executor/index.ts";
import { specOf, type TaskRecord } from "../../model/index.ts";
import { PAUSE_PROGRAM, type PauseRoot } from "../../pause/index.ts";
import { type Incarnation, isInMachine, launchOf, pauseLaunch, type Runtimes } from "../../plan/index.ts";
import { type TaskSpec, unknownRuntime } from "../../spec/index.ts";
import type { Paths } from "../paths.ts";
import type { Contribution, TaskResource } from "../resources/resource.ts";
import { readSpecFiles } from "./files.ts";

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
      throw new Error(`${spec.rootfs} is no directory`);
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
