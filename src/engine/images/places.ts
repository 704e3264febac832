/** Paths of the image store below the state directory. Only root can enter it, so that no user can run setuid programs or open devices of images. */
import { chmodSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { makeOwnDirectory } from "../own/index.ts";
import { removeScratch } from "../volumes/index.ts";

export class Places {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** An OCI image layout: index.json names each image that was pulled, and blobs/sha256 has the parts of the images. */
  get layout(): string {
    return join(this.#directory, "layout");
  }

  get blobs(): string {
    return join(this.layout, "blobs");
  }

  blob(digest: string): string {
    return join(this.blobs, "sha256", digest.slice("sha256:".length));
  }

  /** Unpacked layers, by their names (load.ts). */
  get layers(): string {
    return join(this.#directory, "layers");
  }

  /** Has one file for each unpacked layer that may not be completely on the disk yet (unsynced.ts). */
  get unsynced(): string {
    return join(this.#directory, "unsynced");
  }

  /** Pulls and unpackings in progress. Nothing in it is needed after a crash. */
  get staging(): string {
    return join(this.#directory, "staging");
  }

  /** Root file systems, one for each incarnation of a container. */
  get roots(): string {
    return join(this.#directory, "roots");
  }

  root(id: string): string {
    return join(this.roots, id);
  }

  make(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    // The directory may have existed before, for instance as the mount point of a disk.
    chmodSync(this.#directory, 0o700);
    for (const path of [this.layers, this.unsynced, this.staging, this.roots, this.layout, this.blobs, join(this.blobs, "sha256")])
      makeOwnDirectory(path, { mode: 0o700 });
  }
}

// The directories of unpacked layers.

/** Whether the layer is unpacked. A symbolic link does not count, because its target was not made by this store. */
export function hasLayer(places: Places, name: string): boolean {
  return lstatSync(join(places.layers, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Renames an unpacked layer to its name. Something other than a directory under this name is removed. */
export function placeLayer(places: Places, name: string, content: string): void {
  if (!hasLayer(places, name)) removeOwnFile(join(places.layers, name));
  renameSync(content, join(places.layers, name));
}

/**
 * Succeeds if it does not exist. The layer is renamed first, because removing takes a while and nobody must find a part of a layer under its name.
 */
export async function removeLayer(places: Places, name: string): Promise<void> {
  const trash = join(places.staging, `trash-${name}`);
  try {
    renameSync(join(places.layers, name), trash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await removeScratch(trash);
}
