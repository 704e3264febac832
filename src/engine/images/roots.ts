/**
 * Makes the root file system of one incarnation: an overlay over the layers of its image, or a copy of them. It is mounted in the daemon's mount
 * namespace, so that a later daemon finds it. What the container writes is removed with it.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { resolveInRoot } from "../../executor/index.ts";
import { unmountBelow, writeAtomically } from "../../node/index.ts";
import { giveOwnDirectory, makeOwnDirectory, readOwnFile } from "../own/index.ts";
import { mountImage, removeScratch, sizeOnDisk } from "../volumes/index.ts";
import { copyAttributes } from "./attributes.ts";
import type { ImageId } from "./load.ts";
import { Mounts } from "./mounts.ts";
import { flagsOf, type Overlays } from "./overlays.ts";
import type { Places } from "./places.ts";
import type { RootUsers } from "./port.ts";
import { runTool } from "./tool.ts";

/** File in the directory of a root file system that names its image. */
const IMAGE = "image.json";
/** Stands for the manifest of a root file system whose file cannot be read. No image has this digest, so that `collect` removes no blobs. */
const UNKNOWN = "sha256:unknown";
/** Device nodes of an image must not open anything. A container has its own /dev. */
const FLAGS = "nodev";

export interface NewRoot {
  readonly id: string;
  readonly image: ImageId;
  /** undefined: the files belong to users of the host. */
  readonly users: RootUsers | undefined;
  /** Bytes of a file system of its own for what is written; undefined: it is that of the directory. */
  readonly bytes?: number | undefined;
}

export class Roots {
  readonly #places: Places;
  readonly #mounts: Mounts;

  constructor(places: Places) {
    this.#places = places;
    this.#mounts = new Mounts(places.layers);
  }

  /** Path of the merged root file system. */
  path(id: string): string {
    return join(this.#places.root(id), "merged");
  }

  /** May be repeated while the container does not run. @param layers names, the lowest first. @throws ImageError; the reason of `signal` */
  async overlay({ id, image, users, bytes }: NewRoot, layers: readonly string[], overlays: Overlays, signal: AbortSignal): Promise<string> {
    const path = await this.#make(id, image);
    const cwd = users?.layers ?? this.#places.layers;
    const top = layers.at(-1);
    const place = bytes === undefined ? this.#places.root(id) : await this.#disk(id, bytes);
    const upper = join(place, "upper");
    // The root directory of an overlay has the attributes of the upper directory.
    if (top !== undefined) copyAttributes(join(cwd, top), upper);
    else giveTo(users, upper);
    const from = (name: string) => relative(cwd, join(place, name));
    // An image without layers gets an empty directory as its lower layer.
    const lower = layers.length === 0 ? relative(cwd, join(this.#places.root(id), "empty")) : [...layers].reverse().join(":");
    const options = `${FLAGS},${flagsOf(overlays)}lowerdir=${lower},upperdir=${from("upper")},workdir=${from("work")}`;
    await this.#mounts.overlay(options, path, signal, cwd);
    return path;
  }

  /** @param layer name of the directory that contains the whole image. @throws ImageError; the reason of `signal` */
  async copy({ id, image, users }: NewRoot, layer: string, signal: AbortSignal): Promise<string> {
    const path = await this.#make(id, image, layer);
    await runTool("cp", ["--archive", "--reflink=auto", `${join(users?.layers ?? this.#places.layers, layer)}/.`, path], { signal });
    await runTool("mount", ["--options", `bind,${FLAGS}`, path, path], { signal });
    return path;
  }

  /** Bytes on the disk that were added to the image. @throws Error: they cannot be measured; the errors of the system calls */
  async written(id: string): Promise<number> {
    const { copyOf } = JSON.parse(readOwnFile(join(this.#places.root(id), IMAGE)).toString()) as { readonly copyOf?: string };
    const all = await sizeOnDisk(this.#places.root(id));
    return copyOf === undefined ? all : Math.max(0, all - (await sizeOnDisk(join(this.#places.layers, copyOf))));
  }

  /** Unmounts and removes the root file system. Succeeds if it does not exist. @throws ImageError: it is in use */
  async release(id: string): Promise<void> {
    const directory = this.#places.root(id);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (found.isDirectory()) {
      await this.#mounts.unmount(this.path(id));
      await unmountBelow(directory);
    }
    await removeScratch(directory);
  }

  /** undefined: the path leads to no directory in the root file system. */
  directoryIn(id: string, path: string): string | undefined {
    const found = resolveInRoot(this.path(id), path);
    return found !== undefined && statSync(found).isDirectory() ? found : undefined;
  }

  /** Path of the directory, outside of the root file system, for one of the paths that the image declares as volumes. */
  volume(id: string, at: number): string {
    return join(this.#places.root(id), "volumes", String(at));
  }

  /** Copies what the image has at these paths into their directories, with owner and mode. @throws ImageError; the reason of `signal` */
  async fillVolumes(id: string, paths: readonly string[], users: RootUsers | undefined, signal: AbortSignal): Promise<void> {
    for (const [at, path] of paths.entries()) {
      makeDirectory(this.volume(id, at));
      giveTo(users, this.volume(id, at));
      const found = this.directoryIn(id, path);
      if (found !== undefined) await runTool("cp", ["--archive", "--reflink=auto", `${found}/.`, this.volume(id, at)], { signal });
    }
  }

  /**
   * Images of all root file systems, also of those that belong to no known container. A damaged root file system counts as one of an unknown image.
   */
  images(): ImageId[] {
    return readdirSync(this.#places.roots).flatMap((id) => {
      try {
        const { manifest, config } = JSON.parse(readOwnFile(join(this.#places.root(id), IMAGE)).toString()) as Partial<ImageId>;
        return { manifest: String(manifest), config: config ?? null };
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === "ENOENT" ? [] : { manifest: UNKNOWN, config: null };
      }
    });
  }

  /** Mounts a file system of this size, which is unmounted and removed with the root file system. @throws Error: the messages of the programs, or the package of a missing one */
  async #disk(id: string, bytes: number): Promise<string> {
    const path = join(this.#places.root(id), "disk");
    makeDirectory(path);
    await mountImage(path, bytes);
    for (const name of ["upper", "work"]) makeDirectory(join(path, name));
    return path;
  }

  /** @param copyOf name of the layer that is copied; undefined: layers are mounted */
  async #make(id: string, { manifest, config }: ImageId, copyOf?: string): Promise<string> {
    await this.release(id);
    for (const name of ["upper", "work", "merged", "empty"]) makeDirectory(join(this.#places.root(id), name));
    const path = join(this.#places.root(id), IMAGE);
    // The file need not be synced: after a power failure it may be empty, which counts as damaged, but then nothing is mounted here any more.
    writeAtomically(path, JSON.stringify({ manifest, config, copyOf }), { durability: "none", mode: 0o644 });
    return this.path(id);
  }
}

/** The mode lets everybody enter, whatever the umask of this process. */
function makeDirectory(path: string): void {
  makeOwnDirectory(path, { mode: 0o755 });
}

/** Gives the directory to root of the task's users. Without such users it already belongs to root of the host. */
function giveTo(users: RootUsers | undefined, path: string): void {
  if (users !== undefined) giveOwnDirectory(path, { mode: 0o755, owner: { uid: users.first, gid: users.first } });
}
