/** Reserves space on the disk in a file. If the disk is full, the file is removed, so that the store can still record what happens. */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";

const SIZE = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file if it is missing. Returns false if the disk has no space for it. */
  keep(): boolean {
    if (existsSync(this.#path)) return true;
    let fd: number | undefined;
    try {
      fd = openSync(this.#path, "wx", 0o600);
      // The file is filled with data, because a sparse file reserves no space.
      for (let written = 0; written < SIZE; ) written += writeSync(fd, Buffer.alloc(CHUNK, 0x72));
      fsyncSync(fd);
      return true;
    } catch {
      rmSync(this.#path, { force: true });
      return false;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Returns false if there is no reserve. */
  release(): boolean {
    if (!existsSync(this.#path)) return false;
    rmSync(this.#path, { force: true });
    return true;
  }
}
