/** The volumes of a group that outlive its tasks: they go with the last of them if that is asked for, or by themselves when no task names them. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { MountPoints, unmountBelow } from "../../../node/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { slices } from "../../own/index.ts";
import type { TaskSpec } from "../../spec/index.ts";
import { removeEmpty, removeScratch } from "../../volumes/index.ts";
import { keptVolumes, ownVolumes } from "../desired/kept.ts";
import type { Deleted } from "../desired/selection.ts";
import { EngineError } from "../errors.ts";
import type { Paths } from "../paths.ts";
import { Sizes } from "./sizes.ts";

export interface KeptVolumesOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly orphans: {
    /** Tasks whose containers run and that the store does not know. */
    tasks(): Promise<readonly OrphanTask[]>;
  };
}

export interface OrphanTask extends Pick<TaskRecord, "id" | "group"> {
  /** undefined: nobody knows what it uses. */
  readonly spec: TaskSpec | undefined;
}

export interface KeptVolumeView {
  readonly group: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  /** On the disk. null: it was not asked for, or cannot be measured. */
  readonly usedBytes: number | null;
  /** Ids of the tasks that name it, also of those that have stopped and can still be looked at. */
  readonly tasks: readonly string[];
}

/** Begins the directories in which volumes are removed that no task takes along. No task has an id like it. */
const ALONE = "@";

export class KeptVolumes {
  readonly #options: KeptVolumesOptions;
  readonly #sizes = new Sizes();

  constructor(options: KeptVolumesOptions) {
    this.#options = options;
  }

  /**
   * Removes those of a task that is forgotten and that no other one may use, and no container that the store does not know. May be repeated.
   * @throws the errors of the system calls; Error: such containers cannot be listed, and nothing is removed
   */
  async release(record: TaskRecord): Promise<void> {
    if (record.areVolumesAsked !== true) return;
    const { paths, records } = this.#options;
    const isLeft = ownVolumes(record).some((name) => existsSync(paths.kept(record.group, name)));
    const orphans = new Users([], isLeft ? await this.#orphans(record) : []);
    for (const name of ownVolumes(record)) {
      const [path, removed] = [paths.kept(record.group, name), paths.removedVolume(record.id, name)];
      // It is moved away at once: while it is removed, a new task may make its own.
      const isUsed = [...records.values()].some((other) => mayUse(other, record, name)) || orphans.of(record.group, name).length > 0;
      if (!isUsed && existsSync(path) && !existsSync(removed)) {
        mkdirSync(dirname(removed), { recursive: true, mode: 0o700 });
        renameSync(path, removed);
      }
      await this.#clear(removed);
      removeEmpty(dirname(path));
    }
  }

  /**
   * Of all groups, by group and name.
   * @param isMeasured whether to look how much they hold, which takes as long as they have files. @param signal ends that. @throws the reason of `signal`
   */
  async list(isMeasured = false, signal?: AbortSignal): Promise<readonly KeptVolumeView[]> {
    const orphans = await this.#options.orphans.tasks();
    const turn = slices();
    const mounts = new MountPoints();
    const users = new Users(this.#options.records.values(), orphans);
    const views: KeptVolumeView[] = [];
    for (const group of directoriesIn(this.#options.paths.keptOf())) {
      for (const name of directoriesIn(this.#options.paths.keptOf(group))) {
        await turn();
        const found = this.#find(group, name, mounts);
        if (found === undefined) continue;
        const usedBytes = isMeasured ? await this.#sizes.of(`${found.device}:${found.inode}`, found.path, signal) : null;
        views.push({ group, name, createdMs: found.createdMs, usedBytes, tasks: users.of(group, name) });
      }
    }
    return views;
  }

  /** Removes volumes that no task names: all of these, or none. @throws EngineError unknown-volume, volume-in-use; the errors of the system calls */
  async remove(names: readonly string[], group: string): Promise<readonly string[]> {
    const orphans = await this.#options.orphans.tasks();
    // From here to the last of them nothing else happens in this process.
    const { names: there, mounts, users } = this.#look(group, orphans);
    const found = [...new Set(names)].map((name) => {
      const directory = there.has(name) ? this.#find(group, name, mounts) : undefined;
      if (directory === undefined) throw new EngineError("unknown-volume", `group ${group} has no volume ${name}`, { name, group });
      const tasks = users.of(group, name);
      if (tasks.length > 0) throw new EngineError("volume-in-use", `the volume ${name} is named by ${tasks.join(", ")}`, { name, tasks });
      const [mount] = mounts.below(directory.path);
      if (mount !== undefined) throw new EngineError("volume-in-use", `something is mounted at ${mount}`, { name, mount });
      return [name, directory] as const;
    });
    return this.#removeAll(found);
  }

  /** Removes those of these names that are there and that no task names. @param names undefined: all of the group */
  async removeUnused(group: string, names?: readonly string[]): Promise<readonly string[]> {
    const orphans = await this.#options.orphans.tasks();
    const { names: there, mounts, users } = this.#look(group, orphans);
    const wanted = names === undefined ? there : new Set(names.filter((name) => there.has(name)));
    const found = [...wanted].flatMap((name) => {
      const directory = users.of(group, name).length > 0 ? undefined : this.#find(group, name, mounts);
      return directory === undefined || mounts.below(directory.path).length > 0 ? [] : [[name, directory] as const];
    });
    return this.#removeAll(found);
  }

  /**
   * What is left of those of a file goes, too. Those of the tasks that are being deleted go with the last of them, but for those that containers name
   * that the store does not know. @param names of the file
   */
  async withLeft(deleted: Deleted, names: readonly string[], group: string): Promise<Deleted> {
    const orphans = new Users([], await this.#options.orphans.tasks());
    const going = deleted.volumes.filter((name) => orphans.of(group, name).length === 0);
    const left = await this.removeUnused(group, names);
    return { ...deleted, volumes: [...new Set([...going, ...left])] };
  }

  /** Removes what a daemon that was killed has left of volumes that it was removing. @throws the errors of the system calls */
  async sweep(): Promise<void> {
    const { paths } = this.#options;
    for (const entry of directoriesIn(paths.removedVolumes).filter((name) => name.startsWith(ALONE)))
      for (const name of directoriesIn(dirname(paths.removedVolume(entry, "any")))) await this.#clear(paths.removedVolume(entry, name));
  }

  /** All are moved away before the first one is emptied. Returns their names. */
  async #removeAll(found: readonly (readonly [name: string, directory: OwnDirectory])[]): Promise<readonly string[]> {
    const { paths } = this.#options;
    const entry = `${ALONE}${randomUUID()}`;
    for (const [name, directory] of found) {
      const removed = paths.removedVolume(entry, name);
      mkdirSync(dirname(removed), { recursive: true, mode: 0o700 });
      moveAway(directory, removed);
    }
    for (const [name, { path }] of found) {
      await this.#clear(paths.removedVolume(entry, name));
      removeEmpty(dirname(path));
    }
    return found.map(([name]) => name);
  }

  async #clear(removed: string): Promise<void> {
    // A container whose mounts come to the host may have left some.
    await unmountBelow(removed);
    await removeScratch(removed);
    for (const parent of [dirname(removed), dirname(dirname(removed))]) removeEmpty(parent);
  }

  /** What there is of a group at this moment, read once for all of its volumes. */
  #look(group: string, orphans: readonly OrphanTask[]) {
    const names: ReadonlySet<string> = new Set(directoriesIn(this.#options.paths.keptOf(group)));
    return { names, mounts: new MountPoints(), users: new Users(this.#options.records.values(), orphans) };
  }

  /** @param name of a directory of the group. undefined: it is not this engine's: a link, or something that is mounted there. */
  #find(group: string, name: string, mounts: MountPoints): OwnDirectory | undefined {
    const path = this.#options.paths.kept(group, name);
    return mounts.has(path) ? undefined : ownDirectory(path);
  }

  /** @throws Error: they cannot be listed; its message has the volumes that stay for now */
  async #orphans(record: TaskRecord): Promise<readonly OrphanTask[]> {
    try {
      return await this.#options.orphans.tasks();
    } catch (cause) {
      const names = ownVolumes(record).join(", ");
      throw new Error(`volumes stay (${names}): containers that the store does not know cannot be listed: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
}

/** Ids of the tasks that name a volume, and of orphans that may use it. Each task is looked at once for all volumes. */
class Users {
  readonly #naming = new Map<string, string[]>();
  /** Orphans of a group that may use each of its volumes: nobody knows what they use. */
  readonly #unknown = new Map<string, string[]>();

  constructor(records: Iterable<TaskRecord>, orphans: readonly OrphanTask[]) {
    for (const { id, group, spec } of [...records, ...orphans]) {
      if (spec === undefined) add(this.#unknown, group, id);
      else for (const name of keptVolumes({ spec })) add(this.#naming, keyOf(group, name), id);
    }
  }

  of(group: string, name: string): string[] {
    return [...(this.#naming.get(keyOf(group, name)) ?? []), ...(this.#unknown.get(group) ?? [])];
  }
}

function add(ids: Map<string, string[]>, key: string, id: string): void {
  const others = ids.get(key);
  if (others === undefined) ids.set(key, [id]);
  else others.push(id);
}

/** The name of a group has no slash. */
function keyOf(group: string, name: string): string {
  return [group, name].join("/");
}

/** Of several that are deleted together the last one that stops removes the volume. */
function mayUse(other: TaskRecord, own: TaskRecord, name: string): boolean {
  const isEnded = other.isDeleteAsked && other.known === "STOPPED";
  return other.id !== own.id && other.group === own.group && !isEnded && keptVolumes(other).includes(name);
}

/** Directories of the engine that are removed: that each is the same one from the look at it until it was moved is compared by device and inode. */
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

interface OwnDirectory {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
}

/** undefined: it is not there, or a link or a file has its place. */
function ownDirectory(path: string): OwnDirectory | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    const { dev: device, ino: inode, birthtimeMs: createdMs } = fstatSync(fd);
    return { path, device, inode, createdMs };
  } finally {
    closeSync(fd);
  }
}

/** @param to in an existing directory of the same file system. @throws Error: something else has taken its place; it is there again. The errors of the system calls */
function moveAway({ path, device, inode }: OwnDirectory, to: string): void {
  renameSync(path, to);
  const moved = lstatSync(to);
  if (moved.dev === device && moved.ino === inode) return;
  renameSync(to, path);
  throw new Error(`${path} is another one by now`);
}

/** Names of the directories in a directory, sorted. A missing one has none. */
export function directoriesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
