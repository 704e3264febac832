/** Scratch volumes with a size on the disk: a file system of their own, in a file. Programs that want more get ENOSPC, and nobody else does. */
import { execFile } from "node:child_process";
import { rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isMounted } from "./mounted.ts";

const run = promisify(execFile);

/**
 * Its file is beside the place where it is mounted, and has the whole size on the disk: what a program may write is there. May be repeated; what a crash has left is made
 * anew. @throws Error: what the programs say, or the package of one that is missing
 */
export async function mountImage(path: string, bytes: number): Promise<void> {
  if (isMounted(path)) return;
  const file = imageOf(path);
  rmSync(file, { force: true });
  try {
    await program("fallocate", "util-linux", "--length", String(bytes), file);
    // Nothing of it outlives the task: a journal would only take its room.
    await program("mke2fs", "e2fsprogs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-E", "nodiscard", file);
    await program("mount", "mount", "-t", "ext4", "-o", "loop,nosuid,nodev", file, path);
    rmdirSync(join(path, "lost+found"));
  } catch (error) {
    await unmountImage(path);
    throw error;
  }
}

/** What is in it is gone, and its room is free. May be repeated. @throws Error: what umount(8) says */
export async function unmountImage(path: string): Promise<void> {
  while (isMounted(path)) await program("umount", "mount", path);
  rmSync(imageOf(path), { force: true });
}

/** No volume has such a name. */
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
