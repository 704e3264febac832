/** Makes, finds and removes what tasks with users of their own need of the host. Every operation can be repeated after a crash at any point. */
import { existsSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMountPoint, outputOf, unmount, unmountBelow, writeOwnFile } from "../../node/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../own/index.ts";
import type { PauseRoot } from "../pause/index.ts";
import { mappedPath, mountMapped } from "./mapped.ts";
import { pinUsers, type UserMap } from "./namespace.ts";

export interface TaskUsersOptions {
  /** Directory for what belongs to tasks, by their ids. Everybody can enter it and all above it: a process of a user namespace opens the root file system that it gets. */
  readonly directory: string;
  /** Directory with the layers of images. */
  readonly layers: string;
  /** Path of the runt executable. */
  readonly binary: string;
  readonly pause: PauseRoot;
}

export interface UsersPlacement extends UserMap {
  /** File to which the user namespace is bound. */
  readonly namespace: string;
  /** Path of the layers of images, whose files belong to users of the namespace. */
  readonly layers: string;
  /** Root file system of the pause program, where users of the namespace can reach it. */
  readonly pause: string;
}

export class TaskUsers {
  readonly #options: TaskUsersOptions;
  /** What is being made, by the id of the task: a network asks for it, too. */
  readonly #making = new Map<string, Promise<void>>();

  constructor(options: TaskUsersOptions) {
    this.#options = options;
  }

  placement(id: string, map: UserMap): UsersPlacement {
    const directory = this.#of(id);
    return { ...map, namespace: join(directory, "namespace"), layers: mappedPath(directory), pause: join(directory, "pause") };
  }

  /** @throws Error: the kernel or a file system cannot do it; the message has the reason */
  async make(id: string, map: UserMap): Promise<UsersPlacement> {
    const making = this.#making.get(id) ?? this.#make(id, map).finally(() => this.#making.delete(id));
    this.#making.set(id, making);
    await making;
    return this.placement(id, map);
  }

  /** Path of a root file system that `show` has bound. */
  root(id: string, runtimeId: string): string {
    return join(this.#of(id), "roots", runtimeId);
  }

  /** Binds a root file system to where the task's users can reach it. May be repeated. @throws Error: the message of mount(8) */
  async show(id: string, runtimeId: string, rootfs: string): Promise<void> {
    const path = this.root(id, runtimeId);
    await unmount(path);
    for (const directory of [dirname(path), path]) makeOwnDirectory(directory, { mode: 0o711 });
    await outputOf("mount", ["--bind", rootfs, path]);
  }

  /** Undoes `show`. Succeeds if there is nothing. @throws Error: it is in use */
  async hide(id: string, runtimeId: string): Promise<void> {
    const path = this.root(id, runtimeId);
    await unmount(path);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) rmdirSync(path);
    else if (found !== undefined) unlinkSync(path);
  }

  /** Succeeds if there is nothing. @throws Error: something is still mounted */
  remove(id: string): void {
    const directory = this.#of(id);
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return;
    unmountBelow(directory);
    removeOwnTree(directory);
    if (readdirSync(this.#options.directory).length === 0) rmdirSync(this.#options.directory);
  }

  /** Removes what belongs to no known task. Returns what could not be removed. */
  tidy(isKnown: (id: string) => boolean): readonly unknown[] {
    const { directory } = this.#options;
    const strays = existsSync(directory) ? readdirSync(directory).filter((id) => !isKnown(id)) : [];
    return strays.flatMap((id) => {
      try {
        this.remove(id);
        return [];
      } catch (error) {
        return [error];
      }
    });
  }

  async #make(id: string, map: UserMap): Promise<void> {
    const { namespace, layers, pause } = this.placement(id, map);
    if ([namespace, layers, pause].every(isMountPoint)) return;
    this.remove(id);
    const directory = this.#of(id);
    makeOwnDirectory(this.#options.directory, { mode: 0o711, parents: 0o711 });
    // Of all users it is those of the task, and root, who can enter it.
    makeOwnDirectory(directory, { mode: 0o710, owner: { uid: 0, gid: map.first } });
    makeOwnDirectory(pause, { mode: 0o711 });
    writeOwnFile(namespace, "");
    try {
      const { binary, pause: program, layers: source } = this.#options;
      const pauseRoot = program.path();
      await pinUsers(namespace, map);
      await mountMapped({ ...map, directory, source }, { binary, pauseRoot });
      makeOwnDirectory(join(pauseRoot, "dev"), { mode: 0o755 });
      await outputOf("mount", ["--bind", pauseRoot, pause]);
    } catch (error) {
      this.remove(id);
      throw new Error(`no users of its own can be made for the task: ${(error as Error).message}`, { cause: error });
    }
  }

  #of(id: string): string {
    return join(this.#options.directory, id);
  }
}
