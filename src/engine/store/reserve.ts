/** Reserves space on the disk in a file. If the disk is full, the file is removed, so that the store can still record what happens. */
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, renameSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { removeOwnFile } from "../own/index.ts";

const SIZE = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;
/** Free space that is left beside the reserve when it is made: without it the next write would take the reserve again. */
const BESIDE = 1024 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file if it is missing. Returns false if the disk has no space for it. */
  keep(): boolean {
    // One of another size is what a killed process was making, or of somebody else.
    const found = lstatSync(this.#path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size === SIZE) return true;
    const making = `${this.#path}.new`;
    let fd: number | undefined;
    try {
      for (const path of [making, this.#path]) removeOwnFile(path);
      // Nothing is written in vain while the disk is full.
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < SIZE + BESIDE) return false;
      fd = openSync(making, "wx", 0o600);
      // The file is filled with data, because a sparse file reserves no space.
      for (let written = 0; written < SIZE; ) written += writeSync(fd, Buffer.alloc(CHUNK, 0x72));
      fsyncSync(fd);
      renameSync(making, this.#path);
      return true;
    } catch {
      removed(making);
      return false;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Returns false if there is no reserve. */
  release(): boolean {
    return existsSync(this.#path) && removed(this.#path);
  }
}

function removed(path: string): boolean {
  try {
    removeOwnFile(path);
    return true;
  } catch {
    // A file system that has become read-only.
    return false;
  }
}
