/** Where the images are, below the state directory. Only root can enter it, so that no user can run setuid programs or open devices of images. */
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

  /** An OCI image layout: index.json names each image that was pulled, blobs/sha256 has their parts. */
  get layout(): string {
    return join(this.#directory, "layout");
  }

  get blobs(): string {
    return join(this.layout, "blobs");
  }

  blob(digest: string): string {
    return join(this.blobs, "sha256", digest.slice("sha256:".length));
  }

  /** Of unpacked layers, by their names (chain.ts). */
  get layers(): string {
    return join(this.#directory, "layers");
  }

  /** A file for each unpacked layer that the disk may not have as a whole yet (unsynced.ts). */
  get unsynced(): string {
    return join(this.#directory, "unsynced");
  }

  /** What is being pulled or unpacked: nothing of it is needed after a crash. */
  get staging(): string {
    return join(this.#directory, "staging");
  }

  /** One for each incarnation of a container. */
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

/** A link with its name leads to what somebody else has unpacked, and is none. */
export function hasLayer(places: Places, name: string): boolean {
  return lstatSync(join(places.layers, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Gives what was unpacked its name. What else has the name is removed. */
export function placeLayer(places: Places, name: string, content: string): void {
  if (!hasLayer(places, name)) removeOwnFile(join(places.layers, name));
  renameSync(content, join(places.layers, name));
}

/** Succeeds if it does not exist. Removing takes a while: what is half removed must not be found under its name. */
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
