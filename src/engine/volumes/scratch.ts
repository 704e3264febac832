/** Scratch volumes: directories to which the containers of a task may write. */
import { constants, lstatSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import { open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { mountAt, outputOf, runProgram, unmount } from "../../node/index.ts";
import { giveOwnDirectory, makeOwnDirectory, refuseMounts } from "../own/index.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/**
 * Every user of every container of the task may write. Other users of the host cannot reach the directory, because its parents are closed to them.
 */
const MODE = 0o777;

/** New files in the directory get its group. */
const SETGID = 0o2000;

/** Owner and mode of a scratch directory. Absent: root, root's group, and everybody may write. */
export interface ScratchRights {
  readonly user?: number | undefined;
  readonly group?: number | undefined;
  readonly mode?: number | undefined;
}

/** May be repeated. @throws the errors of the system calls */
export function makeScratch(path: string, rights: ScratchRights = {}): void {
  makeOwnDirectory(path, rightsOf(rights));
}

/** Removes a link, file or other entry that has the name of a directory of ours. The target of a link is not touched. */
export function removeOther(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) unlinkSync(path);
}

/** Whether the directory is empty and has the owner and mode that makeScratch gives without a group. */
export function isNewScratch(path: string): boolean {
  const { uid, gid, mode } = lstatSync(path);
  return uid === 0 && gid === 0 && (mode & 0o7777) === MODE && isEmpty(path);
}

/** Reads the first names only: a volume may have very many. */
function isEmpty(directory: string): boolean {
  const entries = opendirSync(directory);
  try {
    return entries.readSync() === null;
  } finally {
    entries.closeSync();
  }
}

/** Sets owner and mode of the directory, or of the root of a file system mounted on it. */
export function giveScratch(path: string, rights: ScratchRights): void {
  giveOwnDirectory(path, rightsOf(rights));
}

function rightsOf({ user = 0, group, mode = group === undefined ? MODE : MODE | SETGID }: ScratchRights) {
  return user === 0 && group === undefined ? { mode } : { mode, owner: { uid: user, gid: group ?? 0 } };
}

/**
 * Removes the directory with its contents. Containers have chosen the names: they may be invalid UTF-8, exceed PATH_MAX by their depth, or be links
 * to anywhere. Therefore each directory is opened relative to its parent's descriptor, and its contents are moved to the top before it is removed.
 * Succeeds if it does not exist. Something other than a directory is removed itself.
 * @throws ExecutorError stuck: something is mounted there; the errors of the system calls
 */
export async function removeScratch(path: string): Promise<void> {
  refuseMounts(path);
  removeOther(path);
  const top = await openDirectory(path);
  if (top === undefined) return;
  try {
    const moved = new Names();
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true;
      for await (const { name } of await list(top.fd)) {
        isEmpty = false;
        await removeEntry(below(top.fd, name), top.fd, moved);
      }
    }
  } finally {
    await top.close();
  }
  await rmdir(path);
}

/** Removes the directory if nothing is in it. */
export function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!["ENOTEMPTY", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** Generates names that a container's files cannot have by chance. */
class Names {
  readonly #prefix = `${process.pid}-${process.hrtime.bigint()}-`;
  #count = 0;

  next(): Buffer {
    return Buffer.from(this.#prefix + this.#count++);
  }
}

async function removeEntry(path: Buffer, top: number, moved: Names): Promise<void> {
  if (await tryUnlink(path)) return;
  const directory = await openDirectory(path);
  if (directory === undefined) return;
  try {
    for await (const { name } of await list(directory.fd)) {
      const entry = below(directory.fd, name);
      if (!(await tryUnlink(entry))) await rename(entry, below(top, moved.next()));
    }
  } finally {
    await directory.close();
  }
  // Entries that were moved in after their listing had started are found by the next pass.
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY") throw error;
  });
}

/** Returns false if the path is a directory. */
async function tryUnlink(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EISDIR") return false;
    throw error;
  }
}

/** undefined if it no longer exists. */
async function openDirectory(path: string | Buffer) {
  try {
    return await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function list(fd: number) {
  // Node's types lack listings of names as bytes.
  return (await opendir(`/proc/self/fd/${fd}`, { encoding: "buffer" as BufferEncoding })) as unknown as AsyncIterable<{
    readonly name: Buffer;
  }>;
}

function below(fd: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

// Measures the size of scratch volumes.

/** Milliseconds that one measurement may take. A volume that takes longer is measured again next time. */
const TIMEOUT_MS = 60_000;

/** Bytes on disk, including directories, on one file system only. @throws Error: the message of du(1), or that it took too long, or was aborted */
export async function sizeOnDisk(path: string, signal?: AbortSignal): Promise<number> {
  const { stdout, stderr, message } = await runProgram("du", ["-s", "-x", "--block-size=1", "--", path], {
    ...{ timeoutMs: TIMEOUT_MS, signal },
  });
  // du exits with 1 if a file was removed during the measurement, but its sum is still valid.
  if (message !== "" && stdout.length === 0) throw new Error(`${message}: ${stderr.trim()}`);
  const bytes = Number(/^\d+/.exec(stdout.toString())?.[0] ?? Number.NaN);
  if (Number.isNaN(bytes)) throw new Error(`du says of ${path}: ${stdout.toString().slice(0, 200)}`);
  return bytes;
}

/**
 * Scratch volumes in memory: a tmpfs that the daemon mounts, so that all containers of the task share it. Mounts it; its root belongs to root and
 * is closed to others. May be repeated.
 * @param bytes size limit; undefined: half of the host's memory, the kernel's default.
 * @throws Error: the message of mount(8), or that something else is mounted
 */
export async function mountMemory(path: string, bytes: number | undefined): Promise<void> {
  const there = mountAt(path);
  if (there?.type === "tmpfs") return;
  // Files of the volume would be written to that file system, and not to memory.
  if (there !== undefined) throw new Error(`a file system of the type ${there.type} is mounted at ${path}, and not this volume`);
  // Without a mode the kernel takes 1777, and everybody who reaches the directory may write to it.
  const options = ["nosuid", "nodev", "mode=0700", "uid=0", "gid=0", ...(bytes === undefined ? [] : [`size=${bytes}`])].join(",");
  await outputOf("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
}

/** Unmounts the tmpfs; its contents are lost. May be repeated. @throws Error: the message of umount(8) */
export async function unmountMemory(path: string): Promise<void> {
  // Copies of the mount may still exist in the mount namespaces of containers that are being removed.
  await unmount(path);
}
