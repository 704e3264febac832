/** Whether something is mounted at a path, in the mount namespace of this process. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";

/** The numbers of devices do not say it: a directory may be bound from the same file system. */
export function isMounted(path: string): boolean {
  return mountPoints().includes(realPath(path));
}

/** Everything that is mounted below a directory is no longer, the deepest first. @throws Error: what umount(8) says; then something is still there */
export function unmountBelow(directory: string): void {
  const real = realPath(directory);
  const below = () => mountPoints().filter((path) => path.startsWith(`${real}/`));
  for (const path of below().sort().reverse()) execFileSync("umount", [path], { stdio: "pipe" });
  const [left] = below();
  if (left !== undefined) throw new Error(`${left} is still mounted`);
}

/** The kernel names mounts without symbolic links on the way. What is not there is not a link either. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function mountPoints(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""));
}

/** proc_pid_mountinfo(5) writes white space and backslashes as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
