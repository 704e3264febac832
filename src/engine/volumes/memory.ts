/** Scratch volumes in memory: a tmpfs that is mounted where the daemon is, so that all containers of the task have the same one. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isMounted } from "./mounted.ts";

const run = promisify(execFile);

/** May be repeated. @param bytes undefined: half of the host's memory, as the kernel has it. @throws Error: what mount(8) says */
export async function mountMemory(path: string, bytes: number | undefined): Promise<void> {
  if (isMounted(path)) return;
  const options = ["nosuid", "nodev", ...(bytes === undefined ? [] : [`size=${bytes}`])].join(",");
  await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
}

/** What is in it is gone. May be repeated. @throws Error: what umount(8) says */
export async function unmountMemory(path: string): Promise<void> {
  // A container that is about to be removed may have it still, in a mount namespace of its own.
  while (isMounted(path)) await run("umount", [path]);
}
