/** What is mounted, in the mount namespace of this process. A link at the name itself leads to somebody else's mount point, and is none. */
import { closeSync, constants, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type MountLine, parseMountinfo } from "../shared/linux/index.ts";
import { isServedType } from "./answering.ts";
import { outputOf, runProgram } from "./program.ts";

/** Where something is mounted at one moment. The functions below read the whole list for each path; who asks for many paths reads it once. */
export class MountPoints {
  readonly #points: readonly string[] = mounts().map(({ point }) => point);
  readonly #set: ReadonlySet<string> = new Set(this.#points);

  /** Device numbers are not enough: a bind mount may be from the same file system. */
  has(path: string): boolean {
    return this.#set.has(placeOf(path));
  }

  /** The mount points at this path and below it, the deepest last; a place where several things are mounted as often as that. */
  in(path: string): string[] {
    return this.#in(placeOf(path));
  }

  /** Those below a directory, the deepest last. */
  below(directory: string): string[] {
    const place = placeOf(directory);
    return this.#in(place).filter((point) => point !== place);
  }

  #in(place: string): string[] {
    return this.#points.filter((point) => point === place || point.startsWith(`${place}/`)).sort();
  }
}

export function isMountPoint(path: string): boolean {
  return new MountPoints().has(path);
}

/** As MountPoints.in. */
export function mountsIn(path: string): string[] {
  return new MountPoints().in(path);
}

/** As MountPoints.below. */
export function mountsBelow(directory: string): string[] {
  return new MountPoints().below(directory);
}

/** What is mounted at the path; the uppermost, if there are several. undefined: nothing. */
export function mountAt(path: string): MountLine | undefined {
  if (!isMountPoint(path)) return undefined;
  const wanted = mountIdOf(path);
  return mounts().find(({ id }) => id === wanted);
}

/** As mountAt, by the list of the kernel alone: it ends although the server of what is mounted does not answer. Of two at one place the later one. */
export function listedAt(path: string): MountLine | undefined {
  const place = placeOf(path);
  return mounts().findLast(({ point }) => point === place);
}

/** All that is mounted at the path, one over the other. May be repeated. @throws Error: the message of umount(8) */
export async function unmount(path: string): Promise<void> {
  while (isMountPoint(path)) await unmountListed(placeOf(path));
}

/**
 * Unmounts everything below a directory, the deepest mount first. Who else has mounted something there loses the mount, and nothing of
 * its content: what is in a directory is removed only when nothing is mounted in it. @throws Error: something is still mounted
 */
export async function unmountBelow(directory: string): Promise<void> {
  for (const path of mountsBelow(directory).reverse()) await unmountListed(path);
  const [left] = mountsBelow(directory);
  if (left !== undefined) throw new Error(`${left} is still mounted`);
}

/** Milliseconds for an unmount that writes what is not on the disk yet, and for one whose server may not answer. */
const UNMOUNT_MS = 120_000;
const SERVED_MS = 10_000;

/**
 * The uppermost mount at the path. If its unmount does not end in time, as that of a server that does not answer, it is detached: no path leads to it any more, and the kernel ends it when the server answers.
 * umount(8) is told not to look at the path itself, which would wait for the server, too. @param path as the kernel lists it. @throws Error: the message of umount(8)
 */
async function unmountListed(path: string): Promise<void> {
  const args = ["--internal-only", "--no-canonicalize", path];
  const there = listedAt(path);
  const timeoutMs = unmountMsOf(there?.type ?? "");
  const { isTimedOut, failure, stderr, message } = await runProgram("umount", args, { timeoutMs });
  if (failure === undefined) return;
  if (!isTimedOut) throw new Error(stderr.trim() || message);
  // An unmount that waits for the server may have removed it from the list.
  if (listedAt(path)?.id === there?.id) await outputOf("umount", ["--lazy", ...args], { timeoutMs });
}

/** Milliseconds for the unmount of a file system of this type. */
export function unmountMsOf(type: string): number {
  return isServedType(type) ? SERVED_MS : UNMOUNT_MS;
}

function mounts(): MountLine[] {
  return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** The kernel lists mount points without symbolic links. A missing path is no mount point. */
function placeOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

/** Flag of open(2), which Node does not export. The number is that of x86-64 and arm64. */
const O_PATH = 0o10_000_000;

/** The mount that shows a directory, through links. @throws the errors of open(2) */
export function mountOf(directory: string): MountLine | undefined {
  const id = mountIdOf(directory, constants.O_DIRECTORY);
  return mounts().find((one) => one.id === id);
}

/** Of the mount to which the path leads now (proc_pid_fdinfo(5)). */
function mountIdOf(path: string, flags: number = constants.O_NOFOLLOW): string {
  const fd = openSync(path, O_PATH | flags);
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "";
  } finally {
    closeSync(fd);
  }
}
