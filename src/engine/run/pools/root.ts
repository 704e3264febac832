/** The root file system of a pool of an image: one for all its containers, which have it read-only, at a path that the ids of the pool can reach. */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { isMountPoint, outputOf, unmountBelow } from "../../../node/index.ts";
import type { ImageId, Images } from "../../images/index.ts";
import { type PoolRecord, taskIdOf } from "../../model/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../../own/index.ts";

/** Id of the root file system in the image store. That of a container of a task has another form. */
export function poolRootId(pool: string): string {
  return `${pool}.pool`;
}

/** Whether it is that of one of these pools. */
export function isRootOfPool(pools: Pick<ReadonlySet<string>, "has">, id: string): boolean {
  return pools.has(taskIdOf(id)) && id === poolRootId(taskIdOf(id));
}

/** Of the file systems that each container has. Its own root cannot make them: the files of the image are the host's. */
const MOUNT_POINTS = ["proc", "sys", "dev", "tmp"];

/** What has the name stays: if it is no directory, the container is refused. */
function makeMountPoint(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

export class PoolRoots {
  readonly #images: Images;
  readonly #directory: string;

  /** @param directory has a directory for each pool; everybody can enter it and its parents */
  constructor(images: Images, directory: string) {
    this.#images = images;
    this.#directory = directory;
  }

  /**
   * Makes the root file system, or returns the path of the one that an earlier daemon has made: then containers that wait in it can still be used.
   * @throws ImageError; Error: the message of mount(8); the reason of `signal`
   */
  async make({ id, users }: PoolRecord, image: ImageId, signal: AbortSignal): Promise<string> {
    const path = join(this.#of(id), "root");
    const root = poolRootId(id);
    if (isMountPoint(path) && isMountPoint(this.#images.rootOf(root, []).rootfs)) return path;
    await this.release(id);
    const { rootfs } = await this.#images.makeRoot(root, image, [], signal);
    for (const name of MOUNT_POINTS) makeMountPoint(join(rootfs, name));
    makeOwnDirectory(this.#directory, { mode: 0o711, parents: 0o711 });
    // Only root and the root user of the pool's user namespaces can enter the directory.
    makeOwnDirectory(this.#of(id), { mode: 0o710, owner: { uid: 0, gid: users.first } });
    makeOwnDirectory(path, { mode: 0o711 });
    await outputOf("mount", ["--bind", rootfs, path]);
    return path;
  }

  /** Succeeds if nothing is there. @throws ImageError: it is in use; Error: something is still mounted */
  async release(id: string): Promise<void> {
    const directory = this.#of(id);
    if (existsSync(directory)) {
      await unmountBelow(directory);
      removeOwnTree(directory);
      if (readdirSync(this.#directory).length === 0) rmdirSync(this.#directory);
    }
    await this.#images.releaseRoot(poolRootId(id));
  }

  /** Ids of the pools that have something here. */
  get ids(): string[] {
    return existsSync(this.#directory) ? readdirSync(this.#directory) : [];
  }

  #of(id: string): string {
    return join(this.#directory, id);
  }
}
