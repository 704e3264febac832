/**
 * Files, FIFOs and directories below a directory of this program's. What has their name may be something else by now: no link is followed, nothing waits for
 * the other end of a FIFO, and what was opened has to be of the right kind, and a file of this user's or root's, before anything is done with it.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs";
import { mountsIn } from "../../node/index.ts";
import { ExecutorError } from "../errors.ts";

const { O_CREAT, O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Records and configurations are smaller. */
const LARGEST = 64 << 20;

/** @throws ExecutorError state-unreadable; what openSync throws, ENOENT above all */
export function readOwnFile(path: string, largest = LARGEST): Buffer {
  const fd = openOwnFile(path, largest);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** For reading. @param isOfAnybody where others have files, and nobody else can make one. @throws as readOwnFile */
export function openOwnFile(path: string, largest = Number.POSITIVE_INFINITY, { isOfAnybody = false } = {}): number {
  const isRight = (found: Stats) => found.isFile() && found.size <= largest && (isOfAnybody || isOwn(found));
  return openChecked(path, O_RDONLY, isRight, "not a regular file of this user");
}

function isOwn({ uid }: Stats): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

/**
 * Of whatever user: the runtime gives a container's streams to the user of its program, and nobody else can make one in the executor's directory.
 * @throws ExecutorError state-unreadable; what openSync throws: ENOENT, or ENXIO without a reader
 */
export function openOwnFifo(path: string, flags: number): number {
  return openChecked(path, flags, (found) => found.isFIFO(), "not a FIFO");
}

/**
 * In place, for a file that is mounted in containers; it is made if it is not there. A reader finds it without its end for a moment, and never empty.
 * @throws ExecutorError state-unreadable; what openSync and writeSync throw
 */
export function overwriteOwnFile(path: string, content: string, mode: number): void {
  const isRight = (found: Stats) => found.isFile() && found.nlink === 1 && isOwn(found);
  const fd = openChecked(path, O_WRONLY | O_CREAT, isRight, "not a regular file of this user with one name");
  try {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    ftruncateSync(fd, bytes.length);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

export interface DirectoryRights {
  readonly mode: number;
  /** Mode of its missing parents. Default: they are for this user alone. */
  readonly parents?: number;
  /** Default: they stay as they are. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** May be repeated. @throws ExecutorError state-unreadable: something else has its name; the errors of the system calls */
export function makeOwnDirectory(path: string, rights: DirectoryRights): void {
  try {
    mkdirSync(path, { recursive: true, mode: rights.parents ?? 0o700 });
  } catch (error) {
    if (!["EEXIST", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  giveOwnDirectory(path, rights);
}

/** Owner and mode of the directory, or of the root of what is mounted on it. @throws as makeOwnDirectory */
export function giveOwnDirectory(path: string, { mode, owner }: DirectoryRights): void {
  const fd = openChecked(path, O_RDONLY | O_DIRECTORY, (found) => found.isDirectory(), "not a directory");
  try {
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    // Because the umask applies to mkdir(2), and after chown(2), which may clear set-group-ID.
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function openChecked(path: string, flags: number, isRight: (found: Stats) => boolean, otherwise: string): number {
  let fd: number;
  try {
    fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link with O_DIRECTORY is ENOTDIR; for writing, a directory is EISDIR, and a FIFO without a reader or a socket ENXIO.
    if (!["ELOOP", "ENOTDIR", "EISDIR", ...((flags & O_CREAT) === 0 ? [] : ["ENXIO"])].includes(code ?? "")) throw error;
    throw new ExecutorError("state-unreadable", `${path} is ${code === "ELOOP" ? "a symbolic link" : otherwise}`, { path }, error);
  }
  const found = fstatSync(fd);
  if (isRight(found)) return fd;
  closeSync(fd);
  throw new ExecutorError("state-unreadable", `${path} is ${otherwise}`, { path });
}

/**
 * Removes a directory of this program's with all that is in it. Links are removed themselves, and nothing is removed of what is mounted there.
 * Succeeds if it does not exist. @throws ExecutorError stuck: something is mounted there; the errors of the system calls
 */
export function removeOwnTree(path: string): void {
  refuseMounts(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

/** To be called before what is in a directory is removed: whoever has mounted something there would lose its content. @throws ExecutorError stuck */
export function refuseMounts(path: string): void {
  const [mount] = mountsIn(path);
  if (mount !== undefined) throw new ExecutorError("stuck", `something is mounted at ${mount}, so that ${path} is not removed`, { mount });
}
