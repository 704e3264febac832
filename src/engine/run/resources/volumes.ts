/** The volumes of a task: scratch directories, which are removed with it, kept ones, which outlive it, and files and directories of the host. */
import { closeSync, existsSync, fstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Patience, unmountBelow, untilAnsweredPatiently } from "../../../node/index.ts";
import type { Images } from "../../images/index.ts";
import { imageOfContainer, specOf, type TaskRecord } from "../../model/index.ts";
import { type Incarnation, isInMachine, type MountSource, type Runtimes, sourceOf } from "../../plan/index.ts";
import { asMemoryFile } from "../../secrets/index.ts";
import type { ContainerSpec, PullPolicy, TaskSpec } from "../../spec/index.ts";
import {
  bindWithin,
  type Filesystem,
  fillVolume,
  forgetFilling,
  giveScratch,
  type Identity,
  identityOf,
  makeFiles,
  makeScratch,
  mountFilesystem,
  mountImage,
  mountMemory,
  OF_SYSTEM,
  openBelow,
  openSource,
  removeOther,
  removeScratch,
  unbind,
  unmountFilesystem,
  unmountImage,
  unmountMemory,
} from "../../volumes/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { volumeRootId } from "./image-roots.ts";
import type { KeptVolumes } from "./kept-volumes.ts";
import { type Contribution, type Made, removeTaskDirectory, type TaskResource } from "./resource.ts";

/** Begins the names of volumes in the resources of a record. */
const VOLUME = "volume:";

export interface TaskVolumesOptions {
  readonly paths: Paths;
  readonly kept: KeptVolumes;
  /** New volumes may get what the image has at their places. */
  readonly images: Images;
  /** For images that are volumes and say none. */
  readonly pullPolicy: PullPolicy;
  readonly runtimes: Runtimes;
  readonly log: EngineLog;
}

type ImageVolume = Pick<TaskSpec["volumes"][number], "pullPolicy" | "pullCredentials"> & { readonly image: string };

export class TaskVolumes implements TaskResource {
  readonly name = "volumes";
  readonly #options: TaskVolumesOptions;
  /** Of the file systems that an incarnation mounts, by its runtime id and the name of the volume, from its preparation to its launch. */
  readonly #identities = new Map<string, ReadonlyMap<string, Identity>>();

  constructor(options: TaskVolumesOptions) {
    this.#options = options;
  }

  owns(member: string): boolean {
    return member.startsWith(VOLUME);
  }

  /** @throws Error: the volume cannot be made; the message has its name */
  async make(record: TaskRecord, member: string, patience: Patience): Promise<Made> {
    const name = member.slice(VOLUME.length);
    const { image, filesystem, ...pull } = record.spec.volumes.find((one) => one.name === name) ?? {};
    if (filesystem !== undefined) await this.#mount(record.id, name, filesystem);
    else if (image === undefined) await makeVolume(record, name, { paths: this.#options.paths, patience });
    else await this.#makeImage(volumeRootId(record.id, name), { image, ...pull }, patience.signal);
    return {};
  }

  /** @throws Error: the volume cannot be removed; the message says what is left */
  async unmake(record: TaskRecord, member: string): Promise<void> {
    const name = member.slice(VOLUME.length);
    await removeVolume(record, name, this.#options.paths);
    if (record.spec.volumes.find((one) => one.name === name)?.image !== undefined)
      await this.#options.images.releaseRoot(volumeRootId(record.id, name));
  }

  async #mount(id: string, name: string, filesystem: Filesystem): Promise<void> {
    const path = this.#options.paths.volume(id, name);
    removeOther(this.#options.paths.volumes(id));
    await mountFilesystem(path, filesystem, { asFile: asMemoryFile });
  }

  /** Nobody writes to it: its mounts are for reading only. @throws ImageError; the reason of `signal` */
  async #makeImage(id: string, { image, pullPolicy, pullCredentials }: ImageVolume, signal: AbortSignal): Promise<void> {
    const { images, pullPolicy: ofHost } = this.#options;
    await images.releaseRoot(id);
    const credentials = pullCredentials === undefined ? {} : { credentials: pullCredentials };
    const pin = await images.pull({ reference: image, policy: pullPolicy ?? ofHost, signal, ...credentials });
    await images.makeRoot(id, pin, [], signal);
  }

  paths(record: TaskRecord, container: string): readonly string[] {
    const { volume } = this.#sourceRules(record);
    // File systems of their own were asked by `prepare`, and are not opened.
    const isOpened = ({ volume: name }: ContainerSpec["mounts"][number]) =>
      record.spec.volumes.find((one) => one.name === name)?.filesystem === undefined;
    const mounts = (specOf(record, container)?.mounts ?? []).filter(isOpened);
    return mounts.map((mount) => hostSource(record.spec, mount)?.path ?? volume(mount.volume!));
  }

  check(record: TaskRecord, container: string): void {
    const spec = specOf(record, container);
    if (spec === undefined) return;
    const missing = record.spec.volumes.find(
      ({ name, kept, existing }) =>
        existing && spec.mounts.some(({ volume }) => volume === name) && !existsSync(this.#options.paths.kept(record.group, kept!)),
    );
    if (missing !== undefined) throw new Error(notThere(record.group, missing.kept!));
    checkHostSources(record.spec, spec, this.#sourceRules(record));
  }

  /** New kept volumes get what the image has at their places, and scratch directories that ask for it. @throws Error: the copy has failed; the reason of `signal` */
  async prepare(record: TaskRecord, { container, runtimeId }: Incarnation, signal: AbortSignal): Promise<void> {
    const { paths, images } = this.#options;
    const { id, group, spec, users } = record;
    await this.#identify(record, container, runtimeId, signal);
    if (imageOfContainer(record, container) === null) return;
    for (const { volume, target, noCopy, subPath } of specOf({ spec }, container)?.mounts ?? []) {
      const known = spec.volumes.find(({ name }) => name === volume);
      // Only a part of the volume is at this place of the image.
      if (known === undefined || subPath !== undefined || !isFilled(known, noCopy)) continue;
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
  contribute(record: TaskRecord, { container, runtimeId }: Incarnation): Contribution {
    const spec = specOf(record, container);
    const known = this.#identities.get(runtimeId);
    this.#identities.delete(runtimeId);
    return spec === undefined ? {} : openSources(record.spec, spec, { ...this.#sourceRules(record), identities: known });
  }

  /** What is mounted is not opened by the daemon, which would wait for a server that does not answer. @throws Error: nothing is mounted, or it does not answer */
  async #identify(record: TaskRecord, container: string, runtimeId: string, signal: AbortSignal): Promise<void> {
    const identities = new Map<string, Identity>();
    for (const { volume } of specOf(record, container)?.mounts ?? []) {
      const isOther = record.spec.volumes.find(({ name }) => name === volume)?.filesystem === undefined;
      if (volume === undefined || isOther || identities.has(volume)) continue;
      identities.set(volume, await identityOf(this.#options.paths.volume(record.id, volume), signal));
    }
    if (identities.size > 0) this.#identities.set(runtimeId, identities);
  }

  async release(_: string, runtimeId: string): Promise<void> {
    this.#identities.delete(runtimeId);
  }

  async forget(task: string, record: TaskRecord | undefined): Promise<void> {
    await removeTaskDirectory(this.#options.paths.volumes(task));
    if (record !== undefined) await this.#options.kept.release(record);
  }

  /** Ends when it has begun: nobody waits for the removal of many files. */
  async sweep(): Promise<readonly unknown[]> {
    this.#options.kept.sweep().catch((error) => this.#options.log("error", "volumes-left", { message: String(error) }));
    return [];
  }

  #sourceRules({ id, group, spec }: TaskRecord): SourceRules {
    const { paths, runtimes, images } = this.#options;
    const volume = (name: string) => {
      const { kept, image } = spec.volumes.find((one) => one.name === name) ?? {};
      if (image !== undefined) return images.rootOf(volumeRootId(id, name), []).rootfs;
      return kept === undefined ? paths.volume(id, name) : paths.kept(group, kept);
    };
    return { volume, isInMachine: isInMachine(spec, runtimes) };
  }
}

/** Whether the volume gets what the image has, by what its mount says. */
function isFilled({ kept, host, files, medium, filesystem }: TaskSpec["volumes"][number], noCopy: boolean | undefined): boolean {
  if (kept !== undefined) return noCopy !== true;
  return noCopy === false && [host, files, medium, filesystem].every((one) => one === undefined);
}

interface Making {
  readonly paths: Paths;
  readonly patience: Patience;
}

async function makeVolume({ id, group: owner, spec }: TaskRecord, name: string, { paths, patience }: Making): Promise<void> {
  const {
    files,
    user,
    group,
    mode,
    medium,
    size,
    host,
    hostType: type,
    kept,
    existing,
  } = spec.volumes.find((one) => one.name === name) ?? {};
  const path = paths.volume(id, name);
  removeOther(paths.volumes(id));
  if (host !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    await untilAnsweredPatiently([host, path, ...(spec.hostPaths ?? [])], patience);
    return bindWithin({ path: host, type, allowed: spec.hostPaths ?? [], own: paths.own }, path);
  }
  if (kept !== undefined) {
    const directory = paths.kept(owner, kept);
    if (existing && !existsSync(directory)) throw new Error(notThere(owner, kept));
    // A copy that a crash has left is of an earlier volume with this name.
    if (!existsSync(directory)) await forgetFilling(paths.filling(owner, kept));
    return makeKept(directory, group);
  }
  if (files !== undefined) return makeFiles(path, files, group);
  const rights = { user, group, mode };
  makeScratch(path, rights);
  if (medium === undefined) return;
  await (medium === "image" ? mountImage(path, size!) : mountMemory(path, size));
  giveScratch(path, rights);
}

function notThere(group: string, kept: string): string {
  return `group ${group} has no volume ${kept}, and this task does not make it`;
}

/** An existing directory keeps the owner and mode that its users have given it. */
function makeKept(path: string, group: number | undefined): void {
  if (!existsSync(path)) makeScratch(path, { group });
}

async function removeVolume({ id, spec }: TaskRecord, volume: string, paths: Paths): Promise<void> {
  const path = paths.volume(id, volume);
  removeOther(paths.volumes(id));
  const { host, kept, medium, image, filesystem } = spec.volumes.find((one) => one.name === volume) ?? {};
  if (filesystem !== undefined) return unmountFilesystem(path, filesystem);
  // The volume is a bind mount of a host directory: only the mount is removed, not its content.
  if (host !== undefined) return unbind(path);
  if (kept !== undefined || image !== undefined) return;
  await (medium === "image" ? unmountImage(path) : unmountMemory(path));
  // A crash may have left it.
  await forgetFilling(paths.fillingOf(id, volume));
  // A container whose mounts come to the host may have left some.
  await unmountBelow(path);
  await removeScratch(path);
}

/** What the mounts of a container are of: opened and checked once, and named to the runtime by device and inode, so that nothing else is mounted. */
interface OpenSources {
  /** In the order of the container's mounts. */
  readonly sources: readonly MountSource[];
  /** To be called when the container is launched, or will not be. Until then no other file can get one of these inodes. */
  close(): void;
}

interface SourceRules {
  /** Returns the path of a volume that the engine makes. */
  readonly volume: (name: string) => string;
  /** Whether the container is in a virtual machine. */
  readonly isInMachine: boolean;
  /** Of volumes that are file systems of their own, by name. They are mounted as long as the container is there. */
  readonly identities?: ReadonlyMap<string, Identity> | undefined;
}

/** @throws Error: a source is missing, is reached through a symbolic link that is not followed, or is of another type; in a machine also if it is neither a file nor a directory */
function openSources(task: TaskSpec, { mounts }: ContainerSpec, { volume, isInMachine, identities }: SourceRules): OpenSources {
  const open: number[] = [];
  const close = () => open.splice(0).forEach(closeSync);
  try {
    const sources = mounts.map((mount): MountSource => {
      const identity = identities?.get(mount.volume ?? "");
      if (identity !== undefined) return { path: volume(mount.volume!), ...identity };
      const ofHost = hostSource(task, mount);
      const made = () => [volume(mount.volume!), mount.subPath].filter((part) => part !== undefined).join("/");
      const { fd, path } =
        ofHost === undefined
          ? { fd: openBelow(volume(mount.volume!), mount.subPath, hasDirectories(task, mount.volume!)), path: made() }
          : openSource(ofHost.path, ofHost.type, { follow: { upTo: ofHost.root, links: OF_SYSTEM } });
      open.push(fd);
      if (isInMachine && ofHost !== undefined) checkReachable(fd, ofHost.path);
      const { dev: device, ino: inode } = fstatSync(fd, { bigint: true });
      return { path, device, inode };
    });
    return { sources, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Whether a missing part of the volume is made, as Kubernetes does: it is a scratch directory, or one of the group. */
function hasDirectories({ volumes }: TaskSpec, name: string): boolean {
  const { files, image, host } = volumes.find((one) => one.name === name) ?? {};
  return files === undefined && image === undefined && host === undefined;
}

/** Checks the files and directories of the host before anything is created. @throws as openSources */
function checkHostSources(task: TaskSpec, container: ContainerSpec, rules: SourceRules): void {
  const mounts = container.mounts.filter((mount) => hostSource(task, mount) !== undefined);
  openSources(task, { ...container, mounts }, rules).close();
}

/** undefined: it is a volume that the engine makes. With `hostPaths` this includes volumes of the host, which the engine has bound already. */
function hostSource(task: TaskSpec, mount: ContainerSpec["mounts"][number]) {
  const path = task.hostPaths === undefined ? sourceOf(task, mount) : undefined;
  if (path === undefined) return undefined;
  // `hostType` of a volume describes its top directory, not a path below it.
  const type = mount.subPath === undefined ? task.volumes.find(({ name }) => name === mount.volume)?.hostType : undefined;
  // What is below a volume, its containers may have made.
  return { path, root: sourceOf(task, { ...mount, subPath: undefined })!, type };
}

/** The other side of a socket or a device is in the kernel of the host, so that a virtual machine sees it and cannot use it. */
function checkReachable(fd: number, path: string): void {
  const found = fstatSync(fd);
  if (!found.isFile() && !found.isDirectory())
    throw new Error(`${path} is neither a file nor a directory: a virtual machine cannot use it`);
}
