/**
 * Files that decide what the daemon runs as root. One that another user could have written is refused, because reading it would give that user the
 * rights of root.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Write permission of the group, which is also set for an access control list that lets others write, and of others. */
const OTHERS_WRITE = 0o022;
/** In such a directory only the owner of a file may rename or remove it. */
const STICKY = 0o1000;

export interface TrustedFile {
  readonly text: string;
  /** Device, inode, size and times: they differ if the file was written or replaced. */
  readonly identity: string;
}

/** The file, or a directory that leads to it, may be written by other users, or it is not a regular file. */
export class UntrustedFileError extends Error {
  override readonly name = "UntrustedFileError";
  readonly code = "untrusted-file";
}

/**
 * Reads a regular file that belongs to root or to the user of this process, and that nobody else may write or replace.
 * @param largest in bytes @throws UntrustedFileError; the errors of realpath(3), open(2) and read(2)
 */
export function readTrustedFile(path: string, largest: number): TrustedFile {
  const directory = trustedDirectory(dirname(path));
  const descriptor = openFile(join(directory, basename(path)), path);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new UntrustedFileError(`${path} is no regular file`);
    refuseOthers(path, found);
    if (found.size > largest) throw new UntrustedFileError(`${path} is larger than ${largest} bytes`);
    return { text: readFileSync(descriptor, "utf8"), identity: identityOf(found) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns the path of the directory without links. Nobody else may write it or a directory above it.
 * @throws UntrustedFileError; the errors of realpath(3) and stat(2)
 */
export function trustedDirectory(path: string): string {
  const real = realpathSync(path);
  for (const one of new Set([...upwards(path), ...upwards(real)])) {
    const found = statSync(one);
    if ((found.mode & STICKY) === 0) refuseOthers(one, found);
    else refuseOwner(one, found);
  }
  return real;
}

export function identityOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(":");
}

function openFile(path: string, asked: string): number {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP") throw error;
    throw new UntrustedFileError(`${asked} is a symbolic link: name the file to which it leads`);
  }
}

function refuseOthers(path: string, found: Stats): void {
  refuseOwner(path, found);
  if ((found.mode & OTHERS_WRITE) !== 0) throw new UntrustedFileError(`${path} may be written by other users: chmod go-w ${path}`);
}

function refuseOwner(path: string, { uid }: Stats): void {
  if (uid !== 0 && uid !== process.geteuid?.())
    throw new UntrustedFileError(`${path} belongs to the user ${uid}, and not to root: chown root ${path}`);
}

function upwards(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...upwards(above)];
}
