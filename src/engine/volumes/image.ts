/** Scratch volumes on disk with a fixed size. Each is a file system in a file of its own, so that only programs that exceed its size get ENOSPC. */
import { existsSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMountPoint, mountAt, outputOf, PROGRAM_MS, packageOf } from "../../node/index.ts";

/** Milliseconds. A file system that cannot allocate a large file at once has to write it. */
const MAKE_MS = 5 * PROGRAM_MS;

/**
 * Makes and mounts the file system. Its file is beside the mount point, and all space is allocated at once, so that it is really available. May be
 * repeated: what an interrupted call has made is replaced.
 * @throws Error: the messages of the programs, or the package of a missing one
 */
export async function mountImage(path: string, bytes: number): Promise<void> {
  const file = imageOf(path);
  const there = mountAt(path);
  if (there !== undefined && isLoopOf(there.source, file)) return;
  if (there !== undefined) throw new Error(`a file system of ${there.source} is mounted at ${path}, and not this volume`);
  rmSync(file, { force: true });
  try {
    await runTool("fallocate", "--length", String(bytes), file);
    // A journal would only take space, because the contents need not survive the task.
    await runTool("mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-E", "nodiscard", file);
    await runTool("mount", "-t", "ext4", "-o", "loop,nosuid,nodev", file, path);
    rmdirSync(join(path, "lost+found"));
  } catch (error) {
    await unmountImage(path);
    throw error;
  }
}

/** Unmounts the file system and removes its file. May be repeated. @throws Error: the message of umount(8) */
export async function unmountImage(path: string): Promise<void> {
  while (isMountPoint(path)) await runTool("umount", path);
  rmSync(imageOf(path), { force: true });
}

/** Whether the device is the loop device of this file, according to the path that the kernel reports. */
export function isLoopOf(device: string, file: string): boolean {
  const backing = `/sys/block/${device.replace(/^\/dev\//, "")}/loop/backing_file`;
  return existsSync(backing) && readFileSync(backing, "utf8").trim() === join(realpathSync(dirname(file)), basename(file));
}

/** Path of the file; no volume can have this name. */
function imageOf(path: string): string {
  return join(dirname(path), `.${path.slice(path.lastIndexOf("/") + 1)}.image`);
}

async function runTool(name: string, ...args: readonly string[]): Promise<void> {
  try {
    const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, LC_ALL: "C" };
    await outputOf(name, args, { env, timeoutMs: name === "umount" ? PROGRAM_MS : MAKE_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`the program ${name} is not installed: it is in the package ${packageOf(name)}`, { cause: error });
  }
}
