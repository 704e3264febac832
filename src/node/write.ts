/**
 * Writes files below a directory of this program's. What has their name may be something else by now: it is replaced or removed, and never
 * opened. A path may begin with /proc/self/fd/N, for a directory that is held by descriptor.
 *
 * A process that is killed in the middle leaves the old file, or none, and may leave NAME.new: the next write of NAME removes it, and so does
 * whoever removes the directory. Nobody reads it. Two processes do not write one name at the same time: they have the directory's lock.
 */
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * What the disk has when the write returns. none: nothing yet; after a power failure the file may be the old one, or empty. file: the
 * content, before the file has its name; after a power failure it is the old or the new one. file-and-directory: the name, too.
 */
export type Durability = "none" | "file" | "file-and-directory";

export interface Writing {
  readonly durability: Durability;
  /** Whatever the umask is. Default: 0600. */
  readonly mode?: number;
  /** Name of the file until it is whole, in the same file system. Default: NAME.new. */
  readonly making?: string;
}

/** Readers see the old or the new content. A failure leaves the old one. */
export function writeAtomically(path: string, content: string | Uint8Array, { durability, mode, making = `${path}.new` }: Writing): void {
  try {
    const fd = makeOwnFile(making, content, mode);
    try {
      if (durability !== "none") fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(making, path);
  } catch (error) {
    rmSync(making, { force: true });
    throw error;
  }
  if (durability === "file-and-directory") syncPath(dirname(path));
}

/** The same; the event loop does not wait for the disk. */
export async function writeAtomicallyLater(
  path: string,
  content: string | Uint8Array,
  { durability, mode = 0o600, making = `${path}.new` }: Writing,
): Promise<void> {
  try {
    removeOwnFile(making);
    const file = await open(making, "wx", mode & 0o700);
    try {
      await file.writeFile(content);
      await file.chmod(mode);
      if (durability !== "none") await file.sync();
    } finally {
      await file.close();
    }
    await rename(making, path);
  } catch (error) {
    rmSync(making, { force: true });
    throw error;
  }
  if (durability === "file-and-directory") await syncPathLater(dirname(path));
}

/** Gives its name to a file that something else has written, such as a database. Its content was looked at. */
export function placeAtomically(making: string, path: string, durability: Durability): void {
  if (durability !== "none") syncPath(making);
  renameSync(making, path);
  if (durability === "file-and-directory") syncPath(dirname(path));
}

/** The same; the event loop does not wait for the disk. @param check called right before the file gets its name; what it throws keeps the old one */
export async function placeAtomicallyLater(making: string, path: string, durability: Durability, check: () => void): Promise<void> {
  if (durability !== "none") await syncPathLater(making);
  check();
  renameSync(making, path);
  if (durability === "file-and-directory") await syncPathLater(dirname(path));
}

/** Made anew, with this mode whatever the umask is: what has this name is removed and never opened. */
export function writeOwnFile(path: string, content: string | Uint8Array, mode = 0o600): void {
  closeSync(makeOwnFile(path, content, mode));
}

/** A link is removed itself, and so is an empty directory. Succeeds if there is nothing. @throws EISDIR: a directory with something in it has the name, and stays */
export function removeOwnFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || (code === "EISDIR" && removeEmptyDirectory(path))) return;
    throw error;
  }
}

function removeEmptyDirectory(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns its descriptor. */
function makeOwnFile(path: string, content: string | Uint8Array, mode = 0o600): number {
  const fd = openNew(path, mode);
  try {
    writeFileSync(fd, content);
    fchmodSync(fd, mode);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** "wx" is O_EXCL, which follows no link. */
function openNew(path: string, mode: number): number {
  try {
    return openSync(path, "wx", mode & 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(path);
    return openSync(path, "wx", mode & 0o700);
  }
}

/** A file that was just made, or its directory. */
function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function syncPathLater(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
