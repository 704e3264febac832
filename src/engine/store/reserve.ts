/** Reserves space on the disk. When the disk is full the space is released, so that the store can still record what happens. */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";

const SIZE = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the reserve if it is missing. False: the disk has no room for it now. */
  keep(): boolean {
    if (existsSync(this.#path)) return true;
    let fd: number | undefined;
    try {
      fd = openSync(this.#path, "wx", 0o600);
      // The bytes are written: a sparse file would reserve nothing.
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

  /** False: the reserve was released before. */
  release(): boolean {
    if (!existsSync(this.#path)) return false;
    rmSync(this.#path, { force: true });
    return true;
  }
}
