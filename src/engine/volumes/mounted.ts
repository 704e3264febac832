/** Finds out what is mounted, in the mount namespace of this process. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";

/** Reads mountinfo. Device numbers are not enough, because a bind mount may be from the same file system. */
export function isMounted(path: string): boolean {
  return mountPoints().includes(realPath(path));
}

/** Unmounts everything below a directory, the deepest mount first. @throws Error: the message of umount(8); then something is still mounted */
export function unmountBelow(directory: string): void {
  const real = realPath(directory);
  const below = () => mountPoints().filter((path) => path.startsWith(`${real}/`));
  for (const path of below().sort().reverse()) execFileSync("umount", [path], { stdio: "pipe" });
  const [left] = below();
  if (left !== undefined) throw new Error(`${left} is still mounted`);
}

/** The kernel lists mount points without symbolic links. A missing path is no link. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function mountPoints(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""));
}

/** White space and backslashes are octal escapes. Source: proc_pid_mountinfo(5). */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
