/** Directories of the engine that are removed: that each is the same one from the look at it until it was moved is compared by device and inode. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, renameSync } from "node:fs";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

export interface OwnDirectory {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
}

/** undefined: it is not there, or a link or a file has its place. */
export function ownDirectory(path: string): OwnDirectory | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    const { dev: device, ino: inode, birthtimeMs: createdMs } = fstatSync(fd);
    return { path, device, inode, createdMs };
  } finally {
    closeSync(fd);
  }
}

/** @param to in an existing directory of the same file system. @throws Error: something else has taken its place; it is there again. The errors of the system calls */
export function moveAway({ path, device, inode }: OwnDirectory, to: string): void {
  renameSync(path, to);
  const moved = lstatSync(to);
  if (moved.dev === device && moved.ino === inode) return;
  renameSync(to, path);
  throw new Error(`${path} is another one by now`);
}

/** Names of the directories in a directory, sorted. A missing one has none. */
export function directoriesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
