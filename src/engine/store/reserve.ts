/** Reserves space on the disk in a file. If the disk is full, the file is removed, so that the store can still record what happens. */
import { existsSync, lstatSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { removeOwnFile, writeAtomically } from "../../node/index.ts";

const SIZE = 4 * 1024 * 1024;
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
    try {
      // One that a killed process was making takes space, too.
      for (const path of [`${this.#path}.new`, this.#path]) removeOwnFile(path);
      // Nothing is written in vain while the disk is full.
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < SIZE + BESIDE) return false;
      // The file is filled with data, because a sparse file reserves no space.
      writeAtomically(this.#path, Buffer.alloc(SIZE, 0x72), { durability: "file" });
      return true;
    } catch {
      return false;
    }
  }

  /** Returns false if there is no reserve. */
  release(): boolean {
    if (!existsSync(this.#path)) return false;
    try {
      removeOwnFile(this.#path);
      return true;
    } catch {
      // A file system that has become read-only.
      return false;
    }
  }
}
