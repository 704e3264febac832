/** Room on the disk that is kept for the moment when there is no other: it is given back so that what goes on can still be written down. */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";

const SIZE = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Make it if it is not there. False: there is no room for it now. */
  keep(): boolean {
    if (existsSync(this.#path)) return true;
    let fd: number | undefined;
    try {
      fd = openSync(this.#path, "wx", 0o600);
      // Written, not only allocated by length: a hole is no room.
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

  /** False: it was given back before. */
  release(): boolean {
    if (!existsSync(this.#path)) return false;
    rmSync(this.#path, { force: true });
    return true;
  }
}
