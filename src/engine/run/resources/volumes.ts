/** The volumes of a task: scratch directories, which are removed with it, kept ones, which outlive it, and files and directories of the host. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { unmountBelow } from "../../../node/index.ts";
import type { Images } from "../../images/index.ts";
import { imageOfContainer, specOf, type TaskRecord } from "../../model/index.ts";
import { type Incarnation, isInMachine, type Runtimes } from "../../plan/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import {
  bindWithin,
  fillVolume,
  forgetFilling,
  giveScratch,
  makeFiles,
  makeScratch,
  mountImage,
  mountMemory,
  removeOther,
  removeScratch,
  unbind,
  unmountImage,
  unmountMemory,
} from "../../volumes/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import type { KeptVolumes } from "./kept-volumes.ts";
import { checkHostSources, openSources, type SourceRules } from "./open-sources.ts";
import { type Contribution, type Made, removeTaskDirectory, type TaskResource } from "./resource.ts";

/** Begins the names of volumes in the resources of a record. */
const VOLUME = "volume:";

export interface TaskVolumesOptions {
  readonly paths: Paths;
  readonly kept: KeptVolumes;
  /** New volumes may get what the image has at their places. */
  readonly images: Images;
  readonly runtimes: Runtimes;
  readonly log: EngineLog;
}

export class TaskVolumes implements TaskResource {
  readonly name = "volumes";
  readonly #options: TaskVolumesOptions;

  constructor(options: TaskVolumesOptions) {
    this.#options = options;
  }

  owns(member: string): boolean {
    return member.startsWith(VOLUME);
  }

  /** @throws Error: the volume cannot be made; the message has its name */
  async make(record: TaskRecord, member: string): Promise<Made> {
    await makeVolume(record, member.slice(VOLUME.length), this.#options.paths);
    return {};
  }

  /** @throws Error: the volume cannot be removed; the message says what is left */
  async unmake(record: TaskRecord, member: string): Promise<void> {
    await removeVolume(record, member.slice(VOLUME.length), this.#options.paths);
  }

  check(record: TaskRecord, container: string): void {
    const spec = specOf(record, container);
    if (spec !== undefined) checkHostSources(record.spec, spec, this.#sourceRules(record));
  }

  /** New kept volumes get what the image has at their places, and scratch directories that ask for it. @throws Error: the copy has failed; the reason of `signal` */
  async prepare(record: TaskRecord, { container, runtimeId }: Incarnation, signal: AbortSignal): Promise<void> {
    const { paths, images } = this.#options;
    const { id, group, spec, users } = record;
    if (imageOfContainer(record, container) === null) return;
    for (const { volume, target, noCopy } of specOf({ spec }, container)?.mounts ?? []) {
      const known = spec.volumes.find(({ name }) => name === volume);
      if (known === undefined || !isFilled(known, noCopy)) continue;
      const from = images.directoryIn(runtimeId, target);
      if (from === undefined) continue;
      const { name, kept } = known;
      const places =
        kept === undefined
          ? { volume: paths.volume(id, name), beside: paths.fillingOf(id, name) }
          : { volume: paths.kept(group, kept), beside: paths.filling(group, kept) };
      await fillVolume({ ...places, from, first: users?.first ?? 0, signal });
    }
  }

  /** Opens the sources of the mounts, until the container is launched. @throws as openSources */
  contribute(record: TaskRecord, { container }: Incarnation): Contribution {
    const spec = specOf(record, container);
    return spec === undefined ? {} : openSources(record.spec, spec, this.#sourceRules(record));
  }

  async forget(task: string, record: TaskRecord | undefined): Promise<void> {
    removeTaskDirectory(this.#options.paths.volumes(task));
    if (record !== undefined) await this.#options.kept.release(record);
  }

  /** Ends when it has begun: nobody waits for the removal of many files. */
  async sweep(): Promise<readonly unknown[]> {
    this.#options.kept.sweep().catch((error) => this.#options.log("error", "volumes-left", { message: String(error) }));
    return [];
  }

  #sourceRules({ id, group, spec }: TaskRecord): SourceRules {
    const { paths, runtimes } = this.#options;
    const volume = (name: string) => {
      const kept = spec.volumes.find((one) => one.name === name)?.kept;
      return kept === undefined ? paths.volume(id, name) : paths.kept(group, kept);
    };
    return { volume, isInMachine: isInMachine(spec, runtimes) };
  }
}

/** Whether the volume gets what the image has, by what its mount says. */
function isFilled({ kept, host, files, medium }: TaskSpec["volumes"][number], noCopy: boolean | undefined): boolean {
  if (kept !== undefined) return noCopy !== true;
  return noCopy === false && host === undefined && files === undefined && medium === undefined;
}

async function makeVolume({ id, group: owner, spec }: TaskRecord, name: string, paths: Paths): Promise<void> {
  const { files, group, medium, size, host, hostType: type, kept } = spec.volumes.find((one) => one.name === name) ?? {};
  const path = paths.volume(id, name);
  removeOther(paths.volumes(id));
  if (host !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    return bindWithin({ path: host, type, allowed: spec.hostPaths ?? [], own: paths.own }, path);
  }
  if (kept !== undefined) {
    const directory = paths.kept(owner, kept);
    // A copy that a crash has left is of an earlier volume with this name.
    if (!existsSync(directory)) await forgetFilling(paths.filling(owner, kept));
    return makeKept(directory, group);
  }
  if (files !== undefined) return makeFiles(path, files, group);
  makeScratch(path, group);
  if (medium === undefined) return;
  await (medium === "image" ? mountImage(path, size!) : mountMemory(path, size));
  giveScratch(path, group);
}

/** An existing directory keeps the owner and mode that its users have given it. */
function makeKept(path: string, group: number | undefined): void {
  if (!existsSync(path)) makeScratch(path, group);
}

async function removeVolume({ id, spec }: TaskRecord, volume: string, paths: Paths): Promise<void> {
  const path = paths.volume(id, volume);
  removeOther(paths.volumes(id));
  const { host, kept, medium } = spec.volumes.find((one) => one.name === volume) ?? {};
  // The volume is a bind mount of a host directory: only the mount is removed, not its content.
  if (host !== undefined) return unbind(path);
  if (kept !== undefined) return;
  await (medium === "image" ? unmountImage(path) : unmountMemory(path));
  // A crash may have left it.
  await forgetFilling(paths.fillingOf(id, volume));
  // A container whose mounts come to the host may have left some.
  unmountBelow(path);
  await removeScratch(path);
}
