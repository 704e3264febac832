/** Scratch volumes on disk with a fixed size. Each is a file system in a file of its own, so that only programs that exceed its size get ENOSPC. */
import { execFile } from "node:child_process";
import { rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isMounted } from "./mounted.ts";

const run = promisify(execFile);

/**
 * Makes and mounts the file system. The file is beside the mount point, and its space is allocated at once, so that all of it can be used. May be repeated: what a
 * crash has left is made again. @throws Error: the messages of the programs, or the package of a missing one
 */
export async function mountImage(path: string, bytes: number): Promise<void> {
  if (isMounted(path)) return;
  const file = imageOf(path);
  rmSync(file, { force: true });
  try {
    await program("fallocate", "util-linux", "--length", String(bytes), file);
    // A journal would only take space, because the contents need not survive the task.
    await program("mke2fs", "e2fsprogs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-E", "nodiscard", file);
    await program("mount", "mount", "-t", "ext4", "-o", "loop,nosuid,nodev", file, path);
    rmdirSync(join(path, "lost+found"));
  } catch (error) {
    await unmountImage(path);
    throw error;
  }
}

/** Unmounts the file system and removes its file. May be repeated. @throws Error: the message of umount(8) */
export async function unmountImage(path: string): Promise<void> {
  while (isMounted(path)) await program("umount", "mount", path);
  rmSync(imageOf(path), { force: true });
}

/** Path of the file; no volume can have this name. */
function imageOf(path: string): string {
  return join(dirname(path), `.${path.slice(path.lastIndexOf("/") + 1)}.image`);
}

async function program(name: string, from: string, ...args: readonly string[]): Promise<void> {
  try {
    await run(name, args, { env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, LC_ALL: "C" } });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === "ENOENT") throw new Error(`the program ${name} is not installed: it is in the package ${from}`, { cause: error });
    throw new Error(`${name} has failed: ${stderr?.trim() || message}`, { cause: error });
  }
}
