/**
 * Files of a container that runs, by their path in it. Each component is opened below the one before, without following a link, and only a regular file is read. What a
 * program of the container puts in the way is refused, or replaced; it never leads out of the container.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statfsSync } from "node:fs";
import { runProgram } from "../../node/index.ts";
import { ExecutorError } from "../errors.ts";
import { isAlive, type ProcessIdentity, readProc } from "../process/procfs.ts";

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Node has no name for it; the same number on x86-64 and arm64. */
const O_PATH = 0o10000000;
const LONGEST_PATH = 4095;
const BOUND_MS = 10_000;
export const MOST_BYTES = 64 << 20;

/**
 * Where files are files: ext4, XFS, Btrfs, tmpfs, ramfs, overlay, F2FS, ZFS, SquashFS, EROFS. Elsewhere a look may have an effect (procfs, sysfs, cgroups), or wait for a process
 * of the container that answers (FUSE).
 */
const KINDS: readonly number[] = [
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x858458f6, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0x73717368, 0xe0f5e1e2,
];

/** At most `most` bytes. @throws ExecutorError invalid-argument, wrong-state, file-refused */
export function readInside(process: ProcessIdentity, path: string, most: number): Buffer {
  const { directory, name } = openAbove(process, path);
  let held: number | undefined;
  let fd: number | undefined;
  try {
    // Looked at before it is opened: that of a device could have an effect.
    held = openBelow(directory, name, O_PATH | O_NOFOLLOW, path);
    const { size } = requireFile(held, path);
    if (size > most) throw refused(path, `it has more than ${most} bytes`);
    fd = openSync(`/proc/self/fd/${held}`, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    return readBounded(fd, path, most);
  } finally {
    for (const one of [fd, held, directory]) if (one !== undefined) closeSync(one);
  }
}

/** It may grow meanwhile. */
function readBounded(fd: number, path: string, most: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; ; ) {
    const chunk = Buffer.alloc(Math.min(65_536, most + 1 - size));
    const count = readSync(fd, chunk);
    size += count;
    if (size > most) throw refused(path, `it has more than ${most} bytes`);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
  }
}

/**
 * noclobber is O_EXCL. The mode is set by the descriptor of the new file: a program of the container may have put a link to a file of the host in the place of its name by
 * then. What has the final name is replaced by rename(2), and never opened.
 */
const WRITE =
  'set -C; umask 077; { cat && chmod "$3" /proc/self/fd/1; } > "$1" && mv -fT -- "$1" "$2" || { status=$?; rm -f -- "$1"; exit "$status"; }';

/**
 * Whole or not at all, as the user of the program and with its rights, by a process of the host: a file of a user that the container does not have cannot be made there.
 * @throws ExecutorError invalid-argument, wrong-state, file-refused
 */
export async function writeInside(process: ProcessIdentity, path: string, content: Uint8Array, mode: number): Promise<void> {
  const { directory, name } = openAbove(process, path);
  try {
    const ids = idsOf(process, path);
    const making = `/proc/self/fd/3/.runt-${globalThis.process.pid}-${++made}`;
    const args = ["-c", WRITE, "sh", making, `/proc/self/fd/3/${name}`, mode.toString(8)];
    const { failure, stderr } = await runProgram("/bin/sh", args, {
      ...{
        timeoutMs: BOUND_MS,
        input: content,
        descriptors: [directory],
        ids,
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
      },
    });
    if (failure !== undefined) throw refused(path, stderr.trim().split("\n").at(-1) || failure);
  } finally {
    closeSync(directory);
  }
}

let made = 0;

/** Of the file system: those of the host. */
function idsOf(process: ProcessIdentity, path: string): { readonly uid: number; readonly gid: number } | undefined {
  const status = readProc(process.pid, "status") ?? "";
  const [uid, gid] = ["Uid", "Gid"].map((name) => Number(new RegExp(`^${name}:\\t\\d+\\t(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN));
  if (!isAlive(process) || !Number.isInteger(uid) || !Number.isInteger(gid)) throw ended(path);
  return globalThis.process.geteuid?.() === 0 ? { uid: uid!, gid: gid! } : undefined;
}

/** The directory that the file is in, held by descriptor. */
function openAbove(process: ProcessIdentity, path: string): { readonly directory: number; readonly name: string } {
  const parts = partsOf(path);
  const name = parts.pop()!;
  let directory = openRoot(process, path);
  try {
    requireKind(directory, path);
    for (const part of parts) {
      const next = openBelow(directory, part, O_PATH | O_DIRECTORY | O_NOFOLLOW, path);
      closeSync(directory);
      directory = next;
      requireKind(directory, path);
    }
    return { directory, name };
  } catch (error) {
    closeSync(directory);
    throw error;
  }
}

/** @throws ExecutorError invalid-argument */
function partsOf(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isGood = path.startsWith("/") && !path.includes("\0") && Buffer.byteLength(path) <= LONGEST_PATH && !path.endsWith("/");
  if (isGood && parts.length > 0 && !parts.includes("..")) return parts;
  throw new ExecutorError("invalid-argument", `path ${JSON.stringify(path)}: use the absolute path of a file, without ..`, {
    field: "path",
  });
}

/** Root of the container's first process, which lives after it was opened: so it was not another one's. */
function openRoot(process: ProcessIdentity, path: string): number {
  let fd: number;
  try {
    fd = openSync(`/proc/${process.pid}/root`, O_PATH | O_DIRECTORY);
  } catch (error) {
    throw ended(path, error);
  }
  if (isAlive(process)) return fd;
  closeSync(fd);
  throw ended(path);
}

function openBelow(directory: number, name: string, flags: number, path: string): number {
  try {
    return openSync(`/proc/self/fd/${directory}/${name}`, flags);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw refused(path, code === "ENOTDIR" || code === "ELOOP" ? `${name} is a link, or no directory` : `${name}: ${code}`, error);
  }
}

function requireKind(fd: number, path: string): void {
  if (!KINDS.includes(statfsSync(`/proc/self/fd/${fd}`).type))
    throw refused(path, "it is in a file system in which files are not only files");
}

function requireFile(fd: number, path: string): { readonly size: number } {
  const found = fstatSync(fd);
  if (!found.isFile()) throw refused(path, "it is not a regular file");
  // A file may be a mount of its own.
  requireKind(fd, path);
  return found;
}

function ended(path: string, cause?: unknown): ExecutorError {
  return new ExecutorError("wrong-state", `${path}: the box has ended, and its files with it`, {}, cause);
}

function refused(path: string, why: string, cause?: unknown): ExecutorError {
  return new ExecutorError("file-refused", `${path}: ${why}`, { path }, cause);
}
