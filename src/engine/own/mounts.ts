/**
 * Takes mounts away that are in the engine's directories. Who else has mounted something there loses the mount, and nothing of its content: what is in the
 * directories is removed only when nothing is mounted in them.
 */
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { isMounted, mountsBelow } from "../../executor/own/index.ts";
import { PROGRAM_MS, runBounded } from "./program.ts";

/** All that is mounted at the path, one over the other. May be repeated. @throws Error: the message of umount(8) */
export async function unmount(path: string): Promise<void> {
  while (isMounted(path)) await runBounded("umount", [path]);
}

/** Unmounts everything below a directory, the deepest mount first. @throws Error: the message of umount(8); then something is still mounted */
export function unmountBelow(directory: string): void {
  for (const path of mountsBelow(directory).reverse()) execFileSync("umount", [path], { stdio: "pipe", timeout: PROGRAM_MS });
  const [left] = mountsBelow(directory);
  if (left !== undefined) throw new Error(`${left} is still mounted`);
}

/** Flag of open(2), which Node does not export. The number is that of x86-64 and arm64. */
const O_PATH = 0o10_000_000;

export interface MountFound {
  /** Of the file system, such as "tmpfs". */
  readonly type: string;
  /** Such as "/dev/loop0". */
  readonly source: string;
}

/** What is mounted at the path; the uppermost, if there are several. undefined: nothing. */
export function mountOf(path: string): MountFound | undefined {
  if (!isMounted(path)) return undefined;
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const line = lines.find((one) => one.startsWith(`${mountIdOf(path)} `));
  const [type = "", source = ""] = line?.slice(line.lastIndexOf(" - ") + 3).split(" ") ?? [];
  return { type, source };
}

/** Of the mount to which the path leads now (proc_pid_fdinfo(5)). */
function mountIdOf(path: string): string {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "";
  } finally {
    closeSync(fd);
  }
}
