/** Reserves space on the disk in a file. If the disk is full, the file is removed, so that the store can still record what happens. */
import { existsSync, lstatSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { removeOwnFile, writeAtomically } from "../../node/index.ts";

const SIZE = 4 * 1024 * 1024;
/** Free space that must remain after the reserve was made. Without it the next write would need the reserve again. */
const BESIDE = 1024 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file if it is missing. Returns false if the disk has no space for it. */
  keep(): boolean {
    // A file of another size is unfinished, because a process was killed while it wrote the file, or it is not the reserve.
    const found = lstatSync(this.#path, { throwIfNoEntry: false });
    if (found?.isFile() && found.size === SIZE) return true;
    try {
      // The unfinished file of a killed process takes space, too.
      for (const path of [`${this.#path}.new`, this.#path]) removeOwnFile(path);
      // On a full disk nothing is written, because the write would fail.
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < SIZE + BESIDE) return false;
      // The file is filled with data, because a sparse file reserves no space.
      writeAtomically(this.#path, Buffer.alloc(SIZE, 0x72), { durability: "file" });
      return true;
    } catch {
      return false;
    }
  }

  /** Removes the reserve. Returns false if there is none, or if it cannot be removed. */
  release(): boolean {
    if (!existsSync(this.#path)) return false;
    try {
      removeOwnFile(this.#path);
      return true;
    } catch {
      // The file system has become read-only.
      return false;
    }
  }
}
